import { createLeaseStore, type LeaseContext, type LeaseOptions } from "../../once/lease-store.ts";
import type { OnceStore } from "../../once/once-store.ts";
import { createPgClaims } from "./claims.ts";
import type { PgQueryable } from "./queryable.ts";

/** Creates a store in PostgreSQL, for work outside this database. */
export function createPgStore(pool: PgQueryable, options?: LeaseOptions): OnceStore<LeaseContext> {
  return createLeaseStore(createPgClaims(pool), options);
}
