export { createSqliteClaims } from "./claims.ts";
export type { SqliteDatabase } from "./database.ts";
export { CREATE_TABLE_SQL, createTable } from "./schema.ts";
export { createSqliteStore } from "./store.ts";
export {
  createSqliteTransactionStore,
  markDone,
  type SqliteTransactionContext,
} from "./transaction-store.ts";
