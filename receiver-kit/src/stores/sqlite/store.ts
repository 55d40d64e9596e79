import { createLeaseStore, type LeaseContext, type LeaseOptions } from "../../once/lease-store.ts";
import type { OnceStore } from "../../once/once-store.ts";
import { createSqliteClaims } from "./claims.ts";
import type { SqliteDatabase } from "./database.ts";
import { waitWhenBusy } from "./schema.ts";

/** Creates a store in SQLite, for work outside this database. */
export function createSqliteStore(
  db: SqliteDatabase,
  options?: LeaseOptions,
): OnceStore<LeaseContext> {
  waitWhenBusy(db);
  return createLeaseStore(createSqliteClaims(db), options);
}
