import { AttemptOutcome } from "@activity/proto";
import { LOST_RECORD_DETAIL } from "@activity/runtime/lost-record";
import { isConnectionLost, isOutage } from "../database/outage.ts";
import type { PastAttempt } from "./claim-store.ts";
import { DeliveryState, RUNNING_STATES, stateAfterAttempt } from "./delivery-state.ts";
import type { Decided, DispatchStore } from "./dispatch-store.ts";
import type { AfterAttempt, LockedDelivery, NewAttempt } from "./record-store.ts";
import { deliveryName } from "./run-key.ts";

/** An attempt that was made; `retryInMicros` is the time from now until the next one, if one follows. */
export type MadeAttempt = NewAttempt & {
  readonly retryInMicros: number | undefined;
  /** The run's earlier attempts in order, as far as the caller knows them. */
  readonly before: readonly PastAttempt[];
};

/**
 * How long attempts are recorded one by one. A recorder waits four seconds for the whole call: for the joint
 * transaction that failed first, for this time, and for the last attempt, whose shard may answer late.
 */
const ONE_BY_ONE_MS = 2_000;

const NO_TEXTS = { responseHeaders: "", responseBody: Buffer.alloc(0) };

export type Recorded = {
  /**
   * Indexes of attempts that are not recorded now, because their delivery is locked, their shard is away, or time ran
   * out.
   */
  readonly busy: readonly number[];
  /** Whether anything was written. A repeated call writes nothing, so it succeeds even in a read-only database. */
  readonly hasStored: boolean;
  /** Whether any outbox entry now waits for its workflow. */
  readonly hasRetries: boolean;
  readonly endpointIds: ReadonlySet<string>;
  /** The last error, if attempts could not be stored. All others are recorded or busy. */
  readonly failure?: unknown;
};

/**
 * Records attempts (at least one, at most one of each delivery) in one transaction, with the states and outbox entries
 * of their deliveries. If an attempt is recorded twice, the first result stays, unless only the second was delivered.
 * Attempts whose delivery another transaction locks are returned as `busy`, and keep their leases. If one of several
 * attempts cannot be stored, the others are recorded and its error is returned. While a shard is away, its attempts are
 * busy. Rejects during an outage, or if the only attempt cannot be stored.
 */
export async function recordAttempts(
  store: DispatchStore,
  attempts: readonly MadeAttempt[],
): Promise<Recorded> {
  try {
    return await record(store, attempts);
  } catch (error) {
    if (isConnectionLost(error)) throw error;
    if (attempts.length > 1) return recordOneByOne(store, attempts);
    if (!isOutage(error)) throw error;
    // Returns the attempt as busy and does not try again: the recorder would not wait for that. It now records its
    // other attempts first.
    return { busy: [0], hasStored: false, hasRetries: false, endpointIds: new Set() };
  }
}

async function recordOneByOne(
  store: DispatchStore,
  attempts: readonly MadeAttempt[],
): Promise<Recorded> {
  const busy: number[] = [];
  const endpointIds = new Set<string>();
  let [hasStored, hasRetries] = [false, false];
  let failure: unknown;
  const untilMs = performance.now() + ONE_BY_ONE_MS;
  for (const [index, attempt] of attempts.entries()) {
    if (performance.now() > untilMs) {
      busy.push(index);
      continue;
    }
    try {
      const recorded = await record(store, [attempt]);
      if (recorded.busy.length > 0) busy.push(index);
      hasStored ||= recorded.hasStored;
      hasRetries ||= recorded.hasRetries;
      for (const endpointId of recorded.endpointIds) endpointIds.add(endpointId);
    } catch (error) {
      if (isConnectionLost(error)) throw error;
      if (isOutage(error)) busy.push(index);
      else failure = error;
    }
  }
  return { busy, hasStored, hasRetries, endpointIds, failure };
}

async function record(store: DispatchStore, attempts: readonly MadeAttempt[]): Promise<Recorded> {
  const { missing, ...recorded } = await store.changeFree(attempts, (free) =>
    decide(attempts, free),
  );
  const busy = await findBusy(store, attempts, missing);
  const firsts = attempts.filter(({ attempt }, index) => attempt === 1 && busy.includes(index));
  // Renews the leases, because a vanished writer may hold its locks for longer than a lease.
  if (firsts.length > 0) await store.renewLeases(firsts);
  return { busy, ...recorded };
}

/** Decides the changes for the deliveries that could be locked. */
function decide(
  attempts: readonly MadeAttempt[],
  locked: readonly LockedDelivery[],
): Decided<Omit<Recorded, "busy"> & { readonly missing: readonly number[] }> {
  const deliveries = new Map(locked.map((delivery) => [deliveryName(delivery), delivery]));
  const stored: NewAttempt[] = [];
  const changed: { attempt: MadeAttempt; after: AfterAttempt }[] = [];
  const firstsRecordedLate: MadeAttempt[] = [];
  const missing: number[] = [];
  for (const [index, attempt] of attempts.entries()) {
    const delivery = deliveries.get(deliveryName(attempt));
    if (delivery === undefined) {
      missing.push(index);
      continue;
    }
    const isRunning = goesOn(attempt, delivery);
    const isLast = delivery.run === attempt.run && delivery.attempts === attempt.attempt;
    const isNew = isLast
      ? replaces(attempt, delivery)
      : isRunning && delivery.attempts < attempt.attempt;
    // An earlier or late attempt is stored without the answer's texts, because its donation may have been deleted
    // meanwhile.
    if (isNew || !isLast) stored.push(isNew ? attempt : withoutText(attempt));
    if (isNew) {
      stored.push(...missingBefore(attempt, delivery.attempts));
      changed.push({ attempt, after: afterAttempt(attempt) });
    } else if (isRunning && attempt.attempt === 1) {
      // A later attempt is recorded already. If a failover has restored the outbox entry of this first attempt, that
      // entry now starts the run's workflow.
      firstsRecordedLate.push(attempt);
    }
  }
  const groups = Map.groupBy(changed, ({ after }) => JSON.stringify(after)).values();
  const outcomes = [...groups].flatMap((same) => {
    const [first] = same;
    return first ? [{ keys: same.map(({ attempt }) => attempt), after: first.after }] : [];
  });
  const isRetried = ({ after }: { after: AfterAttempt }) => after.state === DeliveryState.Retrying;
  const firsts = changed.filter((each) => isRetried(each) && each.attempt.attempt === 1);
  const retried = [...firsts.map(({ attempt }) => attempt), ...firstsRecordedLate];
  const deleted = changed.filter((each) => !isRetried(each)).map(({ attempt }) => attempt);
  const changes = { attempts: stored, outcomes, retried, deleted };
  const endpointIds = new Set(locked.map(({ endpointId }) => endpointId));
  const hasStored = stored.length + retried.length > 0;
  return { changes, result: { missing, hasStored, hasRetries: retried.length > 0, endpointIds } };
}

/** Returns the indexes in `missing` whose delivery exists and is only locked. The other deliveries do not exist. */
async function findBusy(
  store: DispatchStore,
  attempts: readonly MadeAttempt[],
  missing: readonly number[],
): Promise<number[]> {
  const keys = missing.flatMap((index) => attempts[index] ?? []);
  if (keys.length === 0) return [];
  const present = new Set((await store.listPresent(keys)).map(deliveryName));
  return missing.filter((index) => {
    const attempt = attempts[index];
    return attempt !== undefined && present.has(deliveryName(attempt));
  });
}

/**
 * Two workers may make the same attempt. A success replaces a recorded failure, also one that ended the run. It does
 * not replace a failure of a run that was canceled or erased.
 */
function replaces({ outcome }: MadeAttempt, { state }: LockedDelivery): boolean {
  const canSucceed = RUNNING_STATES.includes(state) || state === DeliveryState.Failed;
  return canSucceed && outcome === AttemptOutcome.DELIVERED;
}

/** Tells whether the attempt's run is the current one and has not ended. */
function goesOn({ run }: MadeAttempt, delivery: LockedDelivery): boolean {
  return delivery.run === run && RUNNING_STATES.includes(delivery.state);
}

/**
 * Returns the attempts between the last recorded one and this one. Only a restored database lacks any. An outcome that
 * the sender could not name becomes a network error, which is retried too. Without an outcome, no worker could continue
 * the run. ADR 0045
 */
function missingBefore({ before, ...made }: MadeAttempt, recorded: number): NewAttempt[] {
  const { accountNo, deliveryId, run } = made;
  return before.slice(recorded, made.attempt - 1).map(({ outcome, endedAt }, index) => ({
    ...{ accountNo, deliveryId, run, attempt: recorded + index + 1 },
    outcome: outcome || AttemptOutcome.NETWORK_ERROR,
    ...{ startedAt: endedAt, durationMicros: 0, statusCode: undefined },
    ...{ detail: LOST_RECORD_DETAIL, ...NO_TEXTS },
  }));
}

function afterAttempt({ outcome, attempt, retryInMicros }: MadeAttempt): AfterAttempt {
  const state = stateAfterAttempt(outcome, retryInMicros === undefined);
  return { state, attempts: attempt, outcome, retryInMicros };
}

function withoutText(attempt: MadeAttempt): NewAttempt {
  return { ...attempt, ...NO_TEXTS };
}
