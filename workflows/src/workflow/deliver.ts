import { defineQuery, proxyLocalActivities, setHandler, sleep } from "@temporalio/workflow";
import { isRetried } from "../http/attempt-outcome.ts";
import type { AttemptKey } from "../run.ts";
import {
  type Activities,
  type AttemptAnswer,
  type DeliverInput,
  type MadeAttempt,
  PROGRESS,
  type Progress,
  type RecordInput,
} from "./contract.ts";
import { rescheduleAfterMs } from "./reschedule.ts";
import { delayAfterMs, MAX_ATTEMPTS } from "./retry-schedule.ts";

/** Once only: waits are on timers, which hold no slot of a worker. */
const { attempt, record } = proxyLocalActivities<Activities>({
  startToCloseTimeout: "20 seconds",
  retry: { maximumAttempts: 1 },
});

/**
 * Makes the attempts of a run, or the rest of them: at most eight, each retry after its delay from the end of
 * the one before. §6.4
 */
export async function deliver({ made: before = [], ...run }: DeliverInput): Promise<void> {
  const made = [...before];
  let nextDueAtMs: number | undefined;
  setHandler(defineQuery<Progress>(PROGRESS), () => ({
    attempts: made,
    ...(nextDueAtMs !== undefined && { nextDueAt: new Date(nextDueAtMs).toISOString() }),
  }));

  for (let next = made.length + 1; next <= MAX_ATTEMPTS; next += 1) {
    nextDueAtMs = dueAtMs(made);
    await sleepUntil(nextDueAtMs);
    nextDueAtMs = undefined;
    const key = { ...run, attempt: next };
    const answer = await attemptOnceItIsPossible(key);
    if (answer.kind === "ended") return;
    made.push({ outcome: answer.outcome, endedAtMs: answer.endedAtMs });
    if (answer.kind === "made") await recordUntilItIsWritten({ ...key, made: answer });
    if (!isRetried(answer.outcome)) return;
  }

  /** What is asked for again is still due; the query tells when. */
  async function attemptOnceItIsPossible(key: AttemptKey) {
    for (let refused = 0; ; refused += 1) {
      const answer = await attemptOrReschedule(key, refused);
      if (answer.kind !== "rescheduled") return answer;
      nextDueAtMs = Date.now() + answer.waitMs;
      await sleepUntil(nextDueAtMs);
      nextDueAtMs = undefined;
    }
  }
}

/** The first attempt is due at once. */
function dueAtMs(made: readonly MadeAttempt[]): number {
  const last = made.at(-1);
  return last === undefined ? Date.now() : last.endedAtMs + (delayAfterMs(made.length) ?? 0);
}

async function sleepUntil(timeMs: number): Promise<void> {
  const waitMs = timeMs - Date.now();
  if (waitMs > 0) await sleep(waitMs);
}

/** An attempt that fails here was not recorded, because the core was out of reach: it is asked for again. */
async function attemptOrReschedule(key: AttemptKey, refused: number): Promise<AttemptAnswer> {
  try {
    return await attempt({ ...key, refused });
  } catch {
    return { kind: "rescheduled", waitMs: rescheduleAfterMs(refused + 1, Math.random()) };
  }
}

/** The outcome is in the history by the time of the first wait: whatever fails, the POST is not made again. */
async function recordUntilItIsWritten(input: RecordInput): Promise<void> {
  for (let refused = 1; ; refused += 1) {
    try {
      return await record(input);
    } catch {
      await sleep(rescheduleAfterMs(refused, Math.random()));
    }
  }
}
