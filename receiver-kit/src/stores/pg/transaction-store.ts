import type { ClaimResult } from "../../once/claims.ts";
import {
  type Freshness,
  type KeepOptions,
  keepMsOf,
  type OnceStore,
} from "../../once/once-store.ts";
import { createTransactionStore, TransactionLostError } from "../../once/transaction-store.ts";
import { createPgClaims, keepNewest, takeClaim } from "./claims.ts";
import type { PgPool, PgPooledClient, PgQueryable } from "./queryable.ts";

/** The context of work in a transaction. */
export interface PgTransactionContext<Client> {
  /** The client of the transaction that also marks the event done. Run the work's statements on it. */
  readonly client: Client;
}

/**
 * Creates a store in the receiver's own database. The work and the mark commit together. The work gets a client of the
 * pool's own type.
 */
export function createPgTransactionStore<Client extends PgPooledClient>(
  pool: PgPool<Client>,
  options?: KeepOptions,
): OnceStore<PgTransactionContext<Client> & Freshness>;
export function createPgTransactionStore<Client extends PgPooledClient>(
  pool: PgQueryable & { connect(): Promise<Client> },
  options?: KeepOptions,
): OnceStore<PgTransactionContext<Client> & Freshness>;
export function createPgTransactionStore<Client extends PgPooledClient>(
  pool: PgQueryable & { connect(): Promise<Client> },
  options: KeepOptions = {},
): OnceStore<PgTransactionContext<Client> & Freshness> {
  const keepMs = keepMsOf(options);
  return createTransactionStore({
    inTransaction: (work) => inTransaction(pool, work),
    markDone: ({ client }, eventId) => markDone(client, eventId, options),
    keepNewest: ({ client }, record, time) => keepNewest(client, record, time, keepMs),
    deleteExpired: createPgClaims(pool).deleteExpired,
  });
}

/**
 * Marks an event done within the caller's transaction.
 *
 * `claimed` means that this is the first time. Do the work in the same transaction, and commit.
 */
export function markDone(
  client: PgQueryable,
  eventId: string,
  options: KeepOptions = {},
): Promise<ClaimResult> {
  return takeClaim(client, eventId, null, keepMsOf(options));
}

async function inTransaction<Client extends PgPooledClient>(
  pool: { connect(): Promise<Client> },
  work: (context: PgTransactionContext<Client>) => Promise<void>,
): Promise<void> {
  const client = await pool.connect();
  // A pool handles errors of idle clients only. An unhandled error of this client would end the process.
  client.on?.("error", ignore);
  let broken = true;
  try {
    await client.query("BEGIN");
    try {
      await work({ client });
    } catch (error) {
      // The work's error matters more than a failed rollback.
      broken = await client.query("ROLLBACK").then(
        () => false,
        () => true,
      );
      throw error;
    }
    const { command } = await client.query("COMMIT");
    broken = false;
    // If a statement failed, PostgreSQL answers COMMIT with a rollback, not with an error.
    if (command === "ROLLBACK") throw new TransactionLostError();
  } finally {
    client.release(broken); // A connection in an unknown state must not return to the pool.
    if (!broken) client.off?.("error", ignore);
  }
}

/** Ignores a lost connection, because the statement that gets no answer rejects. */
function ignore(): void {}
