import type { ClaimResult } from "../../once/claims.ts";
import {
  DEFAULT_KEEP_SECONDS,
  type Freshness,
  type KeepOptions,
  type OnceStore,
} from "../../once/once-store.ts";
import { createTransactionStore } from "../../once/transaction-store.ts";
import { createSqliteClaims, keepNewest, takeClaim } from "./claims.ts";
import type { SqliteDatabase } from "./database.ts";
import { waitWhenBusy } from "./schema.ts";

/** What work in a transaction gets. */
export interface SqliteTransactionContext<Database> {
  /** The database whose transaction also holds the mark: run the work's statements on it. */
  readonly db: Database;
}

/**
 * Creates a store in the receiver's own database: the work and the mark commit together.
 *
 * Give it a connection of its own: a transaction holds the whole connection, and statements of
 * other code on it would join. Work for different events runs one after the other.
 */
export function createSqliteTransactionStore<Database extends SqliteDatabase>(
  db: Database,
  options: KeepOptions = {},
): OnceStore<SqliteTransactionContext<Database> & Freshness> {
  waitWhenBusy(db);
  const keepMs = (options.keepSeconds ?? DEFAULT_KEEP_SECONDS) * 1000;
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
 * Marks an event done within a transaction of the caller's own.
 *
 * `claimed` means that this is the first time: do the work in the same transaction and commit.
 */
export function markDone(
  db: SqliteDatabase,
  eventId: string,
  { keepSeconds = DEFAULT_KEEP_SECONDS }: KeepOptions = {},
): ClaimResult {
  return takeClaim(db, eventId, null, keepSeconds * 1000);
}

async function inTransaction<Database extends SqliteDatabase>(
  db: Database,
  work: (context: SqliteTransactionContext<Database>) => Promise<void>,
): Promise<void> {
  // Immediate: a transaction that only later wants to write may find that it cannot.
  db.exec("BEGIN IMMEDIATE");
  try {
    await work({ db });
    db.exec("COMMIT");
  } catch (error) {
    db.exec("ROLLBACK");
    throw error;
  }
}
