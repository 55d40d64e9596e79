import type { ClaimResult } from "../../once/claims.ts";
import {
  type Freshness,
  type KeepOptions,
  keepMsOf,
  type OnceStore,
} from "../../once/once-store.ts";
import { createTransactionStore } from "../../once/transaction-store.ts";
import { createSqliteClaims, keepNewest, takeClaim } from "./claims.ts";
import type { SqliteDatabase } from "./database.ts";
import { waitWhenBusy } from "./schema.ts";

/** The context of work in a transaction. */
export interface SqliteTransactionContext<Database> {
  /** The database of the transaction that also marks the event done. Run the work's statements on it. */
  readonly db: Database;
}

/**
 * Creates a store in the receiver's own database. The work and the mark commit together.
 *
 * Give the store its own connection. A transaction uses the whole connection, so statements of other code on it would
 * join the transaction. Work for different events runs one after another.
 *
 * The work must not wait for anything, such as the network or a timer. SQLite has one writer. During the wait, a write
 * on another connection would block this process for that connection's timeout, and then fail. Use `createSqliteStore`
 * for work that waits.
 */
export function createSqliteTransactionStore<Database extends SqliteDatabase>(
  db: Database,
  options: KeepOptions = {},
): OnceStore<SqliteTransactionContext<Database> & Freshness> {
  waitWhenBusy(db);
  const keepMs = keepMsOf(options);
  let last: Promise<unknown> = Promise.resolve();
  return createTransactionStore({
    inTransaction(work) {
      const run = last.then(() => inTransaction(db, work));
      last = run.catch(() => {});
      return run;
    },
    markDone: async (context, eventId) => markDone(context.db, eventId, options),
    keepNewest: async (context, record, time) => keepNewest(context.db, record, time, keepMs),
    deleteExpired: createSqliteClaims(db).deleteExpired,
  });
}

/**
 * Marks an event done within the caller's transaction.
 *
 * `claimed` means that this is the first time. Do the work in the same transaction, and commit.
 */
export function markDone(
  db: SqliteDatabase,
  eventId: string,
  options: KeepOptions = {},
): ClaimResult {
  return takeClaim(db, eventId, null, keepMsOf(options));
}

async function inTransaction<Database extends SqliteDatabase>(
  db: Database,
  work: (context: SqliteTransactionContext<Database>) => Promise<void>,
): Promise<void> {
  // IMMEDIATE takes the write lock now. A transaction that takes it later may fail.
  db.exec("BEGIN IMMEDIATE");
  try {
    await work({ db });
    db.exec("COMMIT");
  } catch (error) {
    try {
      db.exec("ROLLBACK");
    } catch {
      // The rollback may fail: after some errors, such as a full disk, SQLite has rolled back already.
    }
    throw error;
  }
}
