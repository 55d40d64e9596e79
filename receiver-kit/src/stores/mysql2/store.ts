import { createLeaseStore, type LeaseContext, type LeaseOptions } from "../../once/lease-store.ts";
import type { OnceStore } from "../../once/once-store.ts";
import { createMysqlClaims } from "./claims.ts";
import type { MysqlQueryable } from "./queryable.ts";

/** Creates a store in MySQL or MariaDB, for work outside this database. */
export function createMysqlStore(
  pool: MysqlQueryable,
  options?: LeaseOptions,
): OnceStore<LeaseContext> {
  return createLeaseStore(createMysqlClaims(pool), options);
}
