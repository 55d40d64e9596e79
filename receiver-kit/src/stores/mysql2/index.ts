export { createMysqlClaims } from "./claims.ts";
export type { MysqlPooledConnection, MysqlQueryable } from "./queryable.ts";
export { CREATE_TABLE_SQL, createTable } from "./schema.ts";
export { createMysqlStore } from "./store.ts";
export {
  createMysqlTransactionStore,
  type MysqlTransactionContext,
  markDone,
} from "./transaction-store.ts";
