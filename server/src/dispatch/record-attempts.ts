import { AttemptOutcome } from "@activity/proto";
import { LOST_RECORD_DETAIL } from "@activity/runtime/lost-record";
import { isOutage } from "../database/outage.ts";
import type { PastAttempt } from "./claim-store.ts";
import { DeliveryState, RUNNING_STATES, stateAfterAttempt } from "./delivery-state.ts";
import type { Decided, DispatchStore } from "./dispatch-store.ts";
import type { AfterAttempt, LockedDelivery, NewAttempt } from "./record-store.ts";
import { deliveryName } from "./run-key.ts";

/** An attempt that was made, and how long after now the next one is due, if one follows. */
export type MadeAttempt = NewAttempt & {
  readonly retryInMicros: number | undefined;
  /** The run's attempts before it, in order, as far as they are known. */
  readonly before: readonly PastAttempt[];
};

/** What came of a call. */
export type Recorded = {
  /** Places of the attempts that are not recorded yet. */
  readonly busy: readonly number[];
  /** Whether any entry waits for its workflow. */
  readonly hasRetries: boolean;
  /** Whose attempts were recorded. */
  readonly endpointIds: ReadonlySet<string>;
};

/**
 * Records attempts in one transaction, at least one and at most one of each delivery: the attempts, what became
 * of their deliveries, and the outbox entries of those that ended. Of two records of one attempt the first
 * stays, unless only the second was delivered. Those whose delivery somebody else is writing are left for another
 * call; one that cannot be stored takes none of the others with it, and its failure is thrown.
 */
export async function recordAttempts(
  store: DispatchStore,
  attempts: readonly MadeAttempt[],
): Promise<Recorded> {
  try {
    return await record(store, attempts);
  } catch (error) {
    if (attempts.length === 1 || isOutage(error)) throw error;
    return recordOneByOne(store, attempts);
  }
}

async function recordOneByOne(
  store: DispatchStore,
  attempts: readonly MadeAttempt[],
): Promise<Recorded> {
  const busy: number[] = [];
  const endpointIds = new Set<string>();
  let hasRetries = false;
  let failure: unknown;
  for (const [place, attempt] of attempts.entries()) {
    try {
      const recorded = await record(store, [attempt]);
      if (recorded.busy.length > 0) busy.push(place);
      hasRetries ||= recorded.hasRetries;
      for (const endpointId of recorded.endpointIds) endpointIds.add(endpointId);
    } catch (error) {
      failure = error;
    }
  }
  if (failure !== undefined) throw failure;
  return { busy, hasRetries, endpointIds };
}

async function record(store: DispatchStore, attempts: readonly MadeAttempt[]): Promise<Recorded> {
  const { missing, ...recorded } = await store.changeFree(attempts, (free) =>
    decide(attempts, free),
  );
  return { busy: await findBusy(store, attempts, missing), ...recorded };
}

/** Decides what attempts make of those of their deliveries that could be locked. */
function decide(
  attempts: readonly MadeAttempt[],
  locked: readonly LockedDelivery[],
): Decided<Omit<Recorded, "busy"> & { readonly missing: readonly number[] }> {
  const deliveries = new Map(locked.map((delivery) => [deliveryName(delivery), delivery]));
  const stored: NewAttempt[] = [];
  const changed: { attempt: MadeAttempt; after: AfterAttempt }[] = [];
  const firstsRecordedLate: MadeAttempt[] = [];
  const missing: number[] = [];
  for (const [place, attempt] of attempts.entries()) {
    const delivery = deliveries.get(deliveryName(attempt));
    if (delivery === undefined) {
      missing.push(place);
      continue;
    }
    const isRunning = goesOn(attempt, delivery);
    const isNew = isRunning && (delivery.attempts < attempt.attempt || replaces(attempt, delivery));
    // What comes late may be of a donation that was deleted since.
    stored.push(isNew ? attempt : withoutText(attempt));
    if (isNew) {
      stored.push(...missingBefore(attempt, delivery.attempts));
      changed.push({ attempt, after: afterAttempt(attempt) });
    } else if (isRunning && attempt.attempt === 1) {
      // A later attempt is recorded, but a failover can have brought back the entry for the first one.
      firstsRecordedLate.push(attempt);
    }
  }
  const alike = Map.groupBy(changed, ({ after }) => JSON.stringify(after)).values();
  const outcomes = [...alike].flatMap((same) => {
    const [first] = same;
    return first ? [{ keys: same.map(({ attempt }) => attempt), after: first.after }] : [];
  });
  const isRetried = ({ after }: { after: AfterAttempt }) => after.state === DeliveryState.Retrying;
  const firsts = changed.filter((each) => isRetried(each) && each.attempt.attempt === 1);
  const retried = [...firsts.map(({ attempt }) => attempt), ...firstsRecordedLate];
  const deleted = changed.filter((each) => !isRetried(each)).map(({ attempt }) => attempt);
  const changes = { attempts: stored, outcomes, retried, deleted };
  const endpointIds = new Set(locked.map(({ endpointId }) => endpointId));
  return { changes, result: { missing, hasRetries: retried.length > 0, endpointIds } };
}

/** Of deliveries that could not be locked, those that are there: an account's deletion takes the others. */
async function findBusy(
  store: DispatchStore,
  attempts: readonly MadeAttempt[],
  missing: readonly number[],
): Promise<number[]> {
  const keys = missing.flatMap((place) => attempts[place] ?? []);
  if (keys.length === 0) return [];
  const present = new Set((await store.listPresent(keys)).map(deliveryName));
  return missing.filter((place) => {
    const attempt = attempts[place];
    return attempt !== undefined && present.has(deliveryName(attempt));
  });
}

/** Two workers can make one attempt. What a receiver has accepted counts, though a failure was recorded before. */
function replaces({ outcome, attempt }: MadeAttempt, { attempts }: LockedDelivery): boolean {
  return attempt === attempts && outcome === AttemptOutcome.DELIVERED;
}

/** Tells whether the run of an attempt goes on. */
function goesOn({ run }: MadeAttempt, delivery: LockedDelivery): boolean {
  return delivery.run === run && RUNNING_STATES.includes(delivery.state);
}

/** The attempts between the last recorded one and this: there are any when the database was restored. ADR 0045 */
function missingBefore({ before, ...made }: MadeAttempt, recorded: number): NewAttempt[] {
  const { accountNo, deliveryId, run } = made;
  return before.slice(recorded, made.attempt - 1).map(({ outcome, endedAt }, index) => ({
    ...{ accountNo, deliveryId, run, attempt: recorded + index + 1, outcome },
    ...{ startedAt: endedAt, durationMicros: 0, statusCode: undefined },
    ...{ detail: LOST_RECORD_DETAIL, responseBody: Buffer.alloc(0) },
  }));
}

function afterAttempt({ outcome, attempt, retryInMicros }: MadeAttempt): AfterAttempt {
  const state = stateAfterAttempt(outcome, retryInMicros === undefined);
  return { state, attempts: attempt, outcome, retryInMicros };
}

function withoutText(attempt: MadeAttempt): NewAttempt {
  return { ...attempt, responseBody: Buffer.alloc(0) };
}
