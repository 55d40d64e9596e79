import type { DispatchService, PastAttempt } from "@activity/proto";
import type { Timing } from "@activity/runtime/timing";
import { type Duration, durationFromMs, durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { type FinishedAttempt, makeAttempt } from "../attempt/make-attempt.ts";
import { outcomeFromProto } from "../attempt/outcome.ts";
import type { Recorder } from "../attempt/recorder.ts";
import { MAX_ATTEMPTS, retryInMs, waitLeftMs } from "../attempt/retry-schedule.ts";
import { runToProto } from "../attempt/run-key.ts";
import { type AttemptKey, attemptName } from "../common/run.ts";
import { AttemptOutcome, isRetried } from "../http/attempt-outcome.ts";
import { ProxyFailure } from "../http/egress-proxy.ts";
import type { Sender } from "../http/sender.ts";
import type { AttemptSlots } from "./attempt-slots.ts";
import type {
  Activities,
  AttemptAnswer,
  MadeAttempt,
  RecordedAttempt,
  RecordInput,
} from "./contract.ts";
import { createKeptAttempts, type KeptAttempt } from "./kept-attempts.ts";

/** The dependencies of the activities. */
export type ActivityDependencies = {
  readonly dispatch: Client<typeof DispatchService>;
  readonly sender: Sender;
  readonly recorder: Recorder;
  readonly slots: AttemptSlots;
  /** Milliseconds since 1970, for the attempt's timestamp. */
  readonly nowMs: () => number;
  readonly timing: Timing;
};

const ANSWER_WITHIN_MS = 5_000;
/**
 * How long a caller waits until its attempt is recorded. One more call to the core then still fits into the activity's
 * 20 seconds. A longer wait would delay a worker's end, because the worker waits for its activities.
 */
const RECORDED_WITHIN_MS = 10_000;
/** The wait before an attempt is tried again after a failure of the egress proxy. */
const PROXY_AGAIN_MS = 30_000;

/** Creates the activities of a worker. */
export function createActivities(dependencies: ActivityDependencies): Activities {
  const { dispatch, sender, recorder, slots, nowMs, timing } = dependencies;
  // When Temporal loses a task, the workflow asks for the same attempt again. It then gets the attempt that was made or
  // is in flight.
  const kept = createKeptAttempts();
  /**
   * Callers that wait until an attempt is recorded, by `attemptName`. If they waited on the recorder's promise, it
   * would keep them in memory after they give up.
   */
  const waiting = new Map<string, Set<PromiseWithResolvers<void>>>();

  return {
    async attempt({ before, isClaimed, ...key }) {
      const { step, retryIn } = await load(key);
      if (step.case === "recorded") {
        kept.recorded(key);
        const recorded = recordedFrom(key.attempt, step.value, retryIn);
        return recorded ? { kind: "recorded", ...recorded } : { kind: "ended" };
      }
      if (step.case === "ended" && step.value.unknown) return { kind: "unknown" };
      if (step.case !== "ready") return { kind: "ended" };
      const reschedule = async (waitMs: number): Promise<AttemptAnswer> => {
        const later = { ...attemptToProto(key), wait: durationFromMs(waitMs) };
        await dispatch.rescheduleAttempt(later, { timeoutMs: ANSWER_WITHIN_MS });
        return { kind: "rescheduled", waitMs };
      };
      const orLater = async (finished: Promise<KeptAttempt>) => {
        try {
          return madeFrom(await finished, key.attempt, timing.nowMs());
        } catch (error) {
          kept.forget(key);
          if (!(error instanceof ProxyFailure)) throw error;
          return reschedule(PROXY_AGAIN_MS);
        }
      };
      const same = kept.get(key);
      if (same !== undefined) return orLater(same);
      const slot = isClaimed ? { giveBack() {} } : slots.take(step.value.endpointId);
      if ("waitMs" in slot) return reschedule(slot.waitMs);
      const finished = makeAttempt(sender, step.value, key.attempt, nowMs)
        .finally(slot.giveBack)
        .then((made) => {
          // The recorder gets the attempt at once, without a wait for Temporal. The workflow's next step makes sure
          // that the core has recorded it.
          waitingFor(key, made, before, 0);
          const { headers: _headers, bodyStart: _body, traceparent: _trace, ...rest } = made;
          return { ...rest, endedMs: timing.nowMs() };
        });
      kept.keep(key, finished);
      return orLater(finished);
    },

    async record({ made, before, ...key }) {
      const own = await kept.get(key);
      const isOther = own !== undefined && own.startedAtMs !== made.startedAtMs;
      if (isOther && !kept.isRecorded(key) && waiting.has(attemptName(key))) {
        throw new Error("this worker's own attempt is recorded first");
      }
      if (isOther || !kept.isRecorded(key)) await recordSoon(key, made, before);
      return endsFailed(made.outcome, key.attempt) ? loadRecorded(key) : undefined;
    },
  };

  /** Rejects a step that only a newer core knows. To take it for an end would lose the run's retries. */
  async function load(key: AttemptKey) {
    const answer = await dispatch.loadAttempt(attemptToProto(key), { timeoutMs: ANSWER_WITHIN_MS });
    if (answer.step.case === undefined) throw new Error("the core answered with an unknown step");
    return answer;
  }

  /** A newer version's outcome becomes a network error if a retry follows. Otherwise this returns `undefined`. */
  function recordedFrom(
    attempt: number,
    { outcome: recorded, endedAt }: PastAttempt,
    retryIn: Duration | undefined,
  ): RecordedAttempt | undefined {
    const outcome = outcomeFromProto(recorded) ?? (retryIn && AttemptOutcome.NetworkError);
    if (outcome === undefined) return undefined;
    const endedAtMs = endedAt === undefined ? nowMs() : timestampMs(endedAt);
    const storedMs = retryIn ? durationMs(retryIn) : 0;
    const leftMs = retryInMs(attempt, endedAtMs, nowMs(), storedMs);
    return { outcome, endedAtMs, retryInMs: leftMs };
  }

  /**
   * Asks the core which outcome of an attempt is recorded. Returns `undefined` if a failover has lost it, or if a newer
   * version's outcome ended the run.
   */
  async function loadRecorded(key: AttemptKey): Promise<RecordedAttempt | undefined> {
    const { step, retryIn } = await load(key);
    return step.case === "recorded" ? recordedFrom(key.attempt, step.value, retryIn) : undefined;
  }

  /**
   * Waits until the attempt is recorded. After ten seconds this rejects, the recorder keeps the attempt, and the
   * workflow asks again.
   */
  async function recordSoon(
    key: AttemptKey,
    made: RecordInput["made"],
    before: readonly MadeAttempt[],
  ): Promise<void> {
    // If this worker made the attempt, the recorder has it already, with the answer's texts. If another worker made it,
    // it is recorded without these texts.
    const nothing = {
      status: undefined,
      detail: undefined,
      headers: undefined,
      bodyStart: undefined,
    };
    const endedAgoMs = Math.max(0, nowMs() - made.endedAtMs);
    const caller = Promise.withResolvers<void>();
    const callers = waitingFor(key, { ...nothing, ...made }, before, endedAgoMs);
    callers.add(caller);
    const cancel = timing.after(RECORDED_WITHIN_MS, () =>
      caller.reject(new Error("it is not recorded yet")),
    );
    try {
      await caller.promise;
    } finally {
      cancel();
      callers.delete(caller);
    }
  }

  /**
   * Returns the callers that wait until an attempt is recorded. If there were none, gives the attempt to the recorder.
   */
  function waitingFor(
    key: AttemptKey,
    finished: FinishedAttempt,
    before: readonly MadeAttempt[],
    endedAgoMs: number,
  ): Set<PromiseWithResolvers<void>> {
    const name = attemptName(key);
    const known = waiting.get(name);
    if (known !== undefined) return known;
    const callers = new Set<PromiseWithResolvers<void>>();
    const settle = (each: (caller: PromiseWithResolvers<void>) => void) => {
      waiting.delete(name);
      callers.forEach(each);
    };
    waiting.set(name, callers);
    recorder.record(key, finished, before, endedAgoMs).then(
      () => {
        kept.recorded(key);
        settle(({ resolve }) => resolve());
      },
      (error: unknown) => settle(({ reject }) => reject(error)),
    );
    return callers;
  }
}

function attemptToProto(key: AttemptKey) {
  return { run: runToProto(key), attempt: key.attempt };
}

/** Tells whether an attempt with this outcome ends its run as failed. */
function endsFailed(outcome: AttemptOutcome, attempt: number): boolean {
  return outcome !== "delivered" && (!isRetried(outcome) || attempt === MAX_ATTEMPTS);
}

/** Returns the answer for the workflow. The attempt may have ended long ago, if Temporal lost its task. */
function madeFrom(
  { endedMs, ...made }: KeptAttempt,
  attempt: number,
  nowMs: number,
): AttemptAnswer {
  const endedAtMs = made.startedAtMs + made.durationMs;
  return { kind: "made", ...made, endedAtMs, retryInMs: waitLeftMs(attempt, endedMs, nowMs) };
}
