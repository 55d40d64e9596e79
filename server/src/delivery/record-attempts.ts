import type { AttemptOutcome } from "@activity/proto";
import { createBatcher } from "../batcher.ts";
import { isOutage } from "../database/outage.ts";
import type { Pool } from "../database/pool.ts";
import { inTransaction, type Transaction } from "../database/transaction.ts";
import {
  type AfterAttempt,
  type AttemptKey,
  insertAttempts,
  lockDeliveriesForAttempts,
  type NewAttempt,
  updateAfterAttempt,
} from "./attempt-record-store.ts";
import { RUNNING_STATES, stateAfterAttempt } from "./delivery-state.ts";

/** An attempt that was made. */
export type MadeAttempt = AttemptKey &
  Omit<NewAttempt, "deliveryNo" | "accountNo"> & { readonly retryInMicros: number | undefined };

type Change = { readonly deliveryNo: number; readonly after: AfterAttempt };

const LARGEST_BATCH = 64;
/** More than all workers together have under way. */
const MOST_WAITING = 20_000;

/**
 * Creates what records attempts, each as it ends: those that end while a transaction is under way share the
 * next one. Resolves to the outcome that is recorded, which may be that of an earlier call.
 */
export function createAttemptRecorder(
  pool: Pool,
): (attempt: MadeAttempt) => Promise<AttemptOutcome> {
  const submit = createBatcher<MadeAttempt, AttemptOutcome | Promise<AttemptOutcome>>({
    largest: LARGEST_BATCH,
    mostWaiting: MOST_WAITING,
    keyOf: ({ deliveryId }) => deliveryId,
    run: (attempts) => recordTogether(pool, attempts),
  });
  return async (attempt) => submit(attempt);
}

async function recordTogether(
  pool: Pool,
  attempts: readonly MadeAttempt[],
): Promise<(AttemptOutcome | Promise<AttemptOutcome>)[]> {
  try {
    return await inTransaction(pool, (tx) => record(tx, attempts));
  } catch (error) {
    if (attempts.length === 1 || isOutage(error)) throw error;
    // One of them cannot be stored, and takes none of the others with it.
    return attempts.map((attempt) => recordAlone(pool, attempt));
  }
}

async function recordAlone(pool: Pool, attempt: MadeAttempt): Promise<AttemptOutcome> {
  const [outcome = attempt.outcome] = await inTransaction(pool, (tx) => record(tx, [attempt]));
  return outcome;
}

async function record(
  tx: Transaction,
  attempts: readonly MadeAttempt[],
): Promise<AttemptOutcome[]> {
  const deliveries = await lockDeliveriesForAttempts(tx, attempts);
  const added: NewAttempt[] = [];
  const changes: Change[] = [];
  const outcomes = attempts.map(({ retryInMicros, ...attempt }) => {
    const delivery = deliveries.get(attempt.deliveryId);
    // The account was deleted meanwhile, and everything of it.
    if (delivery === undefined) return attempt.outcome;
    const { deliveryNo, accountNo, recordedOutcome } = delivery;
    if (recordedOutcome !== undefined) return recordedOutcome;
    added.push({ ...attempt, deliveryNo, accountNo });
    if (delivery.sequence === attempt.sequence && RUNNING_STATES.includes(delivery.state)) {
      const { outcome, attempt: attempts } = attempt;
      const state = stateAfterAttempt(outcome, retryInMicros === undefined);
      changes.push({ deliveryNo, after: { state, attempts, outcome, retryInMicros } });
    }
    return attempt.outcome;
  });
  if (added.length > 0) await insertAttempts(tx, added);
  for (const same of Map.groupBy(changes, ({ after }) => JSON.stringify(after)).values()) {
    const [first] = same;
    const deliveryNos = same.map(({ deliveryNo }) => deliveryNo);
    if (first !== undefined) await updateAfterAttempt(tx, deliveryNos, first.after);
  }
  return outcomes;
}
