import { delayAfterMs, MAX_ATTEMPTS } from "../attempt/retry-schedule.ts";
import { isRetried } from "../http/attempt-outcome.ts";
import type {
  Activities,
  AttemptAnswer,
  DeliverInput,
  MadeAttempt,
  NextAttempt,
  Progress,
  RecordInput,
  RunResult,
} from "./contract.ts";
import { recordAgainAfterMs, rescheduleAfterMs } from "./reschedule.ts";

/** What a workflow gives the story of a run: all of it is the same when it is replayed. */
export type StoryParts = Activities & {
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
};

/** The story of a run: it is told once. */
export type RunStory = {
  run(): Promise<RunResult>;
  progress(): Progress;
};

/**
 * Creates what makes the attempts of a run, or the rest of them: at most eight, each retry after its delay from the
 * end of the one before. §6.4
 */
export function createRunStory(
  { made: before = [], ...run }: DeliverInput,
  { attempt, record, sleep, nowMs, random }: StoryParts,
): RunStory {
  const made: MadeAttempt[] = [...before];
  let dueAtMs = nowMs();

  async function attemptAll(): Promise<RunResult> {
    while (made.length < MAX_ATTEMPTS) {
      await sleepUntil(dueAtMs);
      const next = { ...run, attempt: made.length + 1, before: [...made] };
      const answer = await attemptOnceItIsPossible(next);
      if (answer.kind === "ended" || answer.kind === "unknown") {
        return { end: answer.kind, attempts: made };
      }
      const { outcome, endedAtMs } = answer;
      made.push({ outcome, endedAtMs });
      // The delay runs from the end of the attempt, however long recording it takes.
      dueAtMs = nowMs() + delayAfter(answer, made.length);
      if (answer.kind === "made") {
        await recordUntilItIsWritten({ ...next, made: answer });
      }
      if (!isRetried(outcome)) {
        return { end: outcome === "delivered" ? "delivered" : "failed", attempts: made };
      }
    }
    return { end: "failed", attempts: made };
  }

  async function attemptOnceItIsPossible(next: NextAttempt) {
    for (let failures = 0; ; ) {
      const answer = await attemptOrFail(next);
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

  /** Returns `undefined` when the core was out of reach: nothing was attempted, and it is asked for again. */
  async function attemptOrFail(next: NextAttempt): Promise<AttemptAnswer | undefined> {
    try {
      return await attempt(next);
    } catch {
      return undefined;
    }
  }

  /** The outcome is in the history by the time of the first wait: whatever fails, the POST is not made again. */
  async function recordUntilItIsWritten(input: RecordInput): Promise<void> {
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

/** Part of the wait behind an attempt that was recorded before is over. */
function delayAfter(answer: Extract<AttemptAnswer, MadeAttempt>, attempt: number): number {
  return answer.kind === "recorded" ? answer.retryInMs : (delayAfterMs(attempt) ?? 0);
}
