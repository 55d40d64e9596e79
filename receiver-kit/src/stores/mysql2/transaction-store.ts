import { createToken } from "#crypto";
import type { ClaimResult } from "../../once/claims.ts";
import {
  type Freshness,
  type KeepOptions,
  keepMsOf,
  type OnceStore,
} from "../../once/once-store.ts";
import { createTransactionStore } from "../../once/transaction-store.ts";
import { createMysqlClaims, keepNewest, takeClaim, updateHeld } from "./claims.ts";
import type { MysqlPooledConnection, MysqlQueryable } from "./queryable.ts";

/**
 * The lease of the claim during the work. It counts only if a statement of the work commits implicitly. After the work,
 * `complete` replaces it with the time to keep.
 */
const CLAIM_MS = 30_000;

/** The context of work in a transaction. */
export interface MysqlTransactionContext<Connection> {
  /** The connection of the transaction that also marks the event done. Run the work's statements on it. */
  readonly connection: Connection;
}

/** Creates a store in the receiver's own database: the work and the mark commit together. */
export function createMysqlTransactionStore<Connection extends MysqlPooledConnection>(
  pool: MysqlQueryable & { getConnection(): Promise<Connection> },
  options: KeepOptions = {},
): OnceStore<MysqlTransactionContext<Connection> & Freshness> {
  const keepMs = keepMsOf(options);
  const owners = new WeakMap<Connection, string>();
  return createTransactionStore({
    inTransaction: (work) => inTransaction(pool, work),
    markDone({ connection }, eventId) {
      const owner = createToken();
      owners.set(connection, owner);
      // The lease is short, because a statement of the work that commits implicitly would commit the claim too.
      return takeClaim(connection, eventId, owner, CLAIM_MS).catch(heldWhenLockWasLost);
    },
    // A deadlock rolls back the whole transaction, with the claim. Later statements of the work then commit one by one.
    // In that case `complete` finds no claim and returns false.
    complete: ({ connection }, eventId) =>
      updateHeld(connection, eventId, owners.get(connection) ?? "", null, keepMs),
    keepNewest: ({ connection }, record, time) => keepNewest(connection, record, time, keepMs),
    deleteExpired: createMysqlClaims(pool).deleteExpired,
  });
}

/**
 * Marks an event done within the caller's transaction.
 *
 * `claimed` means that this is the first time. Do the work in the same transaction, and commit.
 */
export async function markDone(
  connection: MysqlQueryable,
  eventId: string,
  options: KeepOptions = {},
): Promise<ClaimResult> {
  const owner = createToken();
  const keepMs = keepMsOf(options);
  const result = await takeClaim(connection, eventId, owner, keepMs);
  if (result === "claimed") await updateHeld(connection, eventId, owner, null, keepMs);
  return result;
}

const ER_LOCK_WAIT_TIMEOUT = 1205;
const ER_LOCK_DEADLOCK = 1213;

/**
 * Returns `held` for a lost lock. When a transaction rolls back, InnoDB lets one of the waiting transactions continue
 * and ends the others as deadlocked. The work of those others has not begun, and the transaction that continues may
 * still fail.
 */
function heldWhenLockWasLost(error: { errno?: unknown }): ClaimResult {
  if (error.errno === ER_LOCK_DEADLOCK || error.errno === ER_LOCK_WAIT_TIMEOUT) return "held";
  throw error;
}

async function inTransaction<Connection extends MysqlPooledConnection>(
  pool: { getConnection(): Promise<Connection> },
  work: (context: MysqlTransactionContext<Connection>) => Promise<void>,
): Promise<void> {
  const connection = await pool.getConnection();
  let broken = true;
  try {
    await connection.beginTransaction();
    try {
      await work({ connection });
    } catch (error) {
      // The work's error matters more than a failed rollback.
      broken = await connection.rollback().then(
        () => false,
        () => true,
      );
      throw error;
    }
    await connection.commit();
    broken = false;
  } finally {
    // A connection in an unknown state must not return to the pool.
    if (broken) connection.destroy();
    else connection.release();
  }
}
