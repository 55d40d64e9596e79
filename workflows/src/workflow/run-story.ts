import { MAX_ATTEMPTS } from "../attempt/retry-schedule.ts";
import { isRetried } from "../http/attempt-outcome.ts";
import type {
  Activities,
  AttemptAnswer,
  DeliverInput,
  DueAttempt,
  MadeAttempt,
  Progress,
  RecordedAttempt,
  RecordInput,
  RunResult,
} from "./contract.ts";
import { recordAgainAfterMs, rescheduleAfterMs } from "./reschedule.ts";

/** The functions of a workflow that its run uses. In a replay they return the same values. */
export type StoryParts = Activities & {
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
};

/** The attempts of one run. */
export type RunStory = {
  /** Called once. */
  run(): Promise<RunResult>;
  progress(): Progress;
};

/**
 * Creates the steps of a run: its remaining attempts, at most eight in all. Each retry follows its delay, which begins
 * at the end of the attempt before. §6.4
 */
export function createRunStory(
  { made: before, ...run }: DeliverInput,
  { attempt, record, sleep, nowMs, random }: StoryParts,
): RunStory {
  const made: MadeAttempt[] = [...(before ?? [])];
  let dueAtMs = nowMs();

  async function attemptAll(): Promise<RunResult> {
    while (made.length < MAX_ATTEMPTS) {
      await sleepUntil(dueAtMs);
      const next = { ...run, attempt: made.length + 1, before: [...made] };
      const isClaimed = before === undefined && made.length === 0;
      const answer = await attemptWhenPossible({ ...next, isClaimed });
      if (answer.kind === "ended" || answer.kind === "unknown") {
        return { end: answer.kind, attempts: made };
      }
      made.push(pastFrom(answer));
      // The delay runs from the end of the attempt, even if recording it takes long.
      dueAtMs = nowMs() + answer.retryInMs;
      const recorded =
        answer.kind === "made" ? await recordUntilWritten({ ...next, made: answer }) : undefined;
      if (recorded !== undefined) {
        made.splice(-1, 1, pastFrom(recorded));
        dueAtMs = nowMs() + recorded.retryInMs;
      }
      const { outcome } = recorded ?? answer;
      if (!isRetried(outcome)) {
        return { end: outcome === "delivered" ? "delivered" : "failed", attempts: made };
      }
    }
    return { end: "failed", attempts: made };
  }

  async function attemptWhenPossible(next: DueAttempt) {
    for (let failures = 0; ; ) {
      const answer = await attemptIfReachable(next);
      if (answer !== undefined && answer.kind !== "rescheduled") return answer;
      if (answer === undefined) failures += 1;
      const waitMs = answer?.waitMs ?? rescheduleAfterMs(failures, random());
      dueAtMs = nowMs() + waitMs;
      await sleepUntil(dueAtMs);
    }
  }

  async function sleepUntil(timeMs: number): Promise<void> {
    const waitMs = timeMs - nowMs();
    if (waitMs > 0) await sleep(waitMs);
  }

  /** Returns `undefined` if the activity failed, for example because the core was away. */
  async function attemptIfReachable(next: DueAttempt): Promise<AttemptAnswer | undefined> {
    try {
      return await attempt(next);
    } catch {
      return undefined;
    }
  }

  /** The history holds the outcome before the first wait here. No failure can therefore repeat the POST. */
  async function recordUntilWritten(input: RecordInput): Promise<RecordedAttempt | undefined> {
    for (;;) {
      try {
        return await record(input);
      } catch {
        await sleep(recordAgainAfterMs(random()));
      }
    }
  }

  return {
    run: attemptAll,
    progress: () => ({ attempts: made, nextDueAt: new Date(dueAtMs).toISOString() }),
  };
}

function pastFrom({ outcome, endedAtMs }: MadeAttempt): MadeAttempt {
  return { outcome, endedAtMs };
}
