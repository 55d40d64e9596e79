export { createPgClaims } from "./claims.ts";
export type { PgPool, PgPooledClient, PgQueryable, PgResult } from "./queryable.ts";
export { CREATE_TABLE_SQL, createTable } from "./schema.ts";
export { createPgStore } from "./store.ts";
export {
  createPgTransactionStore,
  markDone,
  type PgTransactionContext,
} from "./transaction-store.ts";
