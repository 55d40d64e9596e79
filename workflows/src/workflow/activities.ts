import type { DispatchService } from "@activity/proto";
import { type Timing, wait } from "@activity/runtime/timing";
import { durationFromMs, durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { type FinishedAttempt, makeAttempt } from "../attempt/make-attempt.ts";
import { outcomeFromProto } from "../attempt/outcome.ts";
import type { Recorder } from "../attempt/recorder.ts";
import { retryInMs } from "../attempt/retry-schedule.ts";
import { runToProto } from "../attempt/run-key.ts";
import type { AttemptKey } from "../common/run.ts";
import { ProxyFailure } from "../http/egress-proxy.ts";
import type { Sender } from "../http/sender.ts";
import type { AttemptSlots } from "./attempt-slots.ts";
import type { Activities, AttemptAnswer, MadeAttempt } from "./contract.ts";
import { createKeptAttempts } from "./kept-attempts.ts";

/** The dependencies of the activities. */
export type ActivityDependencies = {
  readonly dispatch: Client<typeof DispatchService>;
  readonly sender: Sender;
  readonly recorder: Recorder;
  readonly slots: AttemptSlots;
  /** Whether claims limit first attempts. Otherwise these take slots too. */
  readonly firstAreClaimed: boolean;
  /** Milliseconds since 1970, for the attempt's timestamp. */
  readonly nowMs: () => number;
  readonly timing: Timing;
};

const ANSWER_WITHIN_MS = 5_000;
/** Less than Temporal gives the activity. A worker ends only after its activities. */
const RECORDED_WITHIN_MS = 15_000;
/** The wait before an attempt is tried again after a failure of the egress proxy. */
const PROXY_AGAIN_MS = 30_000;

/** Creates the activities of a worker. */
export function createActivities(dependencies: ActivityDependencies): Activities {
  const { dispatch, sender, recorder, slots, firstAreClaimed, nowMs, timing } = dependencies;
  // When Temporal loses a task, the workflow asks for the same attempt again. It then gets the attempt that was made or
  // is in flight. Receivers' answers are kept here too, because they must not enter histories.
  const kept = createKeptAttempts();

  return {
    async attempt({ before, ...key }) {
      const question = { run: runToProto(key), attempt: key.attempt };
      const { step, retryIn } = await dispatch.loadAttempt(question, {
        timeoutMs: ANSWER_WITHIN_MS,
      });
      if (step.case === "recorded") {
        kept.recorded(key);
        const { outcome, endedAt } = step.value;
        const endedAtMs = endedAt === undefined ? nowMs() : timestampMs(endedAt);
        const storedMs = retryIn ? durationMs(retryIn) : 0;
        return {
          ...{ kind: "recorded", outcome: outcomeFromProto(outcome), endedAtMs },
          retryInMs: retryInMs(key.attempt, endedAtMs, nowMs(), storedMs),
        };
      }
      if (step.case === "ended" && step.value.unknown) return { kind: "unknown" };
      if (step.case !== "ready") return { kind: "ended" };
      const reschedule = async (waitMs: number): Promise<AttemptAnswer> => {
        const wait = durationFromMs(waitMs);
        await dispatch.rescheduleAttempt({ ...question, wait }, { timeoutMs: ANSWER_WITHIN_MS });
        return { kind: "rescheduled", waitMs };
      };
      const orLater = async (finished: Promise<FinishedAttempt>) => {
        try {
          return madeFrom(await finished);
        } catch (error) {
          if (!(error instanceof ProxyFailure)) throw error;
          kept.forget(key);
          return reschedule(PROXY_AGAIN_MS);
        }
      };
      const same = kept.get(key);
      if (same !== undefined) return orLater(same);
      const isClaimed = key.attempt === 1 && firstAreClaimed;
      const slot = isClaimed ? { giveBack() {} } : slots.take(step.value.endpointId);
      if ("waitMs" in slot) return reschedule(slot.waitMs);
      const finished = makeAttempt(sender, step.value, key.attempt, nowMs).finally(slot.giveBack);
      kept.keep(key, finished);
      // Recorded at once, without waiting for Temporal. The workflow's next step makes sure that it is recorded.
      finished.then((made) => recordOnce(key, made, before, 0)).catch(() => undefined);
      return orLater(finished);
    },

    async record({ made, before, ...key }) {
      // If another process made the attempt, its record lacks the answer's headers and body.
      const { headers, bodyStart, traceparent } = (await kept.get(key)) ?? {};
      const answer = { headers, bodyStart };
      const finished = { status: undefined, detail: undefined, ...made, ...answer, traceparent };
      const endedAgoMs = Math.max(0, nowMs() - made.endedAtMs);
      // The recorder keeps the attempt for longer, and the workflow asks again.
      await within(RECORDED_WITHIN_MS, recordOnce(key, finished, before, endedAgoMs));
    },
  };

  async function recordOnce(
    key: AttemptKey,
    finished: FinishedAttempt,
    before: readonly MadeAttempt[],
    endedAgoMs: number,
  ): Promise<void> {
    if (kept.isRecorded(key)) return;
    await recorder.record(key, finished, before, endedAgoMs);
    kept.recorded(key);
  }

  /** Rejects if the work takes longer. The work continues. */
  async function within(milliseconds: number, work: Promise<void>): Promise<void> {
    const ended = new AbortController();
    const isLate = wait(timing, milliseconds, ended.signal).then(() => !ended.signal.aborted);
    const isDone = work.then(() => false).finally(() => ended.abort());
    if (await Promise.race([isDone, isLate])) throw new Error("it is not recorded yet");
  }
}

/** Leaves out the answer's headers and body and the trace. No history holds them. */
function madeFrom(finished: FinishedAttempt): AttemptAnswer {
  const { headers: _headers, bodyStart: _body, traceparent: _trace, ...made } = finished;
  return { kind: "made", ...made, endedAtMs: made.startedAtMs + made.durationMs };
}
