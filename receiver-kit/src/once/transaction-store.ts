import type { ClaimResult } from "./claims.ts";
import { createCleanUp } from "./clean-up.ts";
import { type Freshness, isStale, type OnceOutcome, type OnceStore } from "./once-store.ts";

/** Thrown inside a transaction to roll it back when there is no work to do. */
class NotFirst extends Error {}

/** The database rolled the transaction back, but the work hid the error that reported this. */
export class TransactionLostError extends Error {
  override readonly name = "TransactionLostError";

  constructor() {
    super("the transaction was rolled back after a statement failed, and the work hid that error");
  }
}

/** Runs a database's transactions, and marks events done inside them. */
export interface TransactionRunner<Context> {
  /** Commits if `work` resolves. Rolls back and rejects if it rejects. */
  inTransaction(work: (context: Context) => Promise<void>): Promise<void>;
  /** Marks the event done within the transaction, unless it is done already. */
  markDone(context: Context, eventId: string): Promise<ClaimResult>;
  /** Completes the mark after the work. Returns false if a rollback lost the mark. */
  complete?(context: Context, eventId: string): Promise<boolean>;
  /** Keeps the newest time of a record within the transaction, and returns it. */
  keepNewest(context: Context, record: string, time: string): Promise<string>;
  deleteExpired(limit: number): Promise<number>;
}

/**
 * Creates a store that marks an event done in the transaction of the work. Both commit or neither does, so the work
 * takes effect exactly once.
 */
export function createTransactionStore<Context>(
  runner: TransactionRunner<Context>,
): OnceStore<Context & Freshness> {
  const cleanUpNowAndThen = createCleanUp(runner);
  return {
    async runOnce(eventId, work, of) {
      let outcome: OnceOutcome = "handled";
      try {
        await runner.inTransaction(async (context) => {
          const result = await runner.markDone(context, eventId);
          if (result === "claimed") {
            const newest = of && (await runner.keepNewest(context, of.record, of.time));
            await work({ ...context, stale: isStale(of, newest) });
            const isMarked = (await runner.complete?.(context, eventId)) ?? true;
            if (!isMarked) throw new TransactionLostError();
            return;
          }
          outcome = result === "done" ? "seen_before" : "in_progress";
          throw new NotFirst();
        });
      } catch (error) {
        if (error instanceof NotFirst) return outcome;
        throw error;
      }
      await cleanUpNowAndThen();
      return outcome;
    },
    deleteExpired: (limit) => runner.deleteExpired(limit),
  };
}
