import type { DispatchService } from "@activity/proto";
import { durationFromMs, durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { makeAttempt } from "../attempt/make-attempt.ts";
import { outcomeFromProto } from "../attempt/outcome.ts";
import type { Recorder } from "../attempt/recorder.ts";
import { runToProto } from "../attempt/run-key.ts";
import type { Sender } from "../http/sender.ts";
import type { AttemptKey } from "../run.ts";
import type { AttemptSlots } from "./attempt-slots.ts";
import type { Activities } from "./contract.ts";
import { rescheduleAfterMs } from "./reschedule.ts";

/** What activities need. */
export type ActivityDependencies = {
  readonly dispatch: Client<typeof DispatchService>;
  readonly sender: Sender;
  readonly recorder: Recorder;
  readonly slots: AttemptSlots;
  /** Milliseconds since 1970, for the attempt's timestamp. */
  readonly nowMs: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
};

const ANSWER_WITHIN_MS = 5_000;
/** Beginnings of answers that are kept for their records, 1 KiB each at most. */
const MAX_BODIES = 2_000;

/** Creates the activities of a worker. */
export function createActivities(dependencies: ActivityDependencies): Activities {
  const { dispatch, sender, recorder, slots, nowMs, random } = dependencies;
  // What receivers answered does not belong into histories: a record that is made elsewhere lacks it.
  const bodies = new Map<string, Buffer>();

  return {
    async attempt({ refused, ...key }) {
      const question = { run: runToProto(key), attempt: key.attempt };
      const { step, retryIn } = await dispatch.loadAttempt(question, {
        timeoutMs: ANSWER_WITHIN_MS,
      });
      if (step.case === "recorded") {
        const { outcome, endedAt } = step.value;
        const endedAtMs = endedAt === undefined ? nowMs() : timestampMs(endedAt);
        const retryInMs = retryIn ? durationMs(retryIn) : 0;
        return { kind: "recorded", outcome: outcomeFromProto(outcome), endedAtMs, retryInMs };
      }
      if (step.case !== "ready") return { kind: "ended" };
      // First attempts are limited by the claim of their entries.
      const giveBack = key.attempt === 1 ? () => {} : slots.take(step.value.endpointId);
      if (giveBack === undefined) {
        const waitMs = rescheduleAfterMs(refused + 1, random());
        await dispatch.rescheduleAttempt(
          { ...question, wait: durationFromMs(waitMs) },
          { timeoutMs: ANSWER_WITHIN_MS },
        );
        return { kind: "rescheduled", waitMs };
      }
      const finished = await makeAttempt(sender, step.value, key.attempt, nowMs).finally(giveBack);
      const { bodyStart, ...made } = finished;
      if (bodyStart !== undefined) keep(key, bodyStart);
      return { kind: "made", ...made, endedAtMs: made.startedAtMs + made.durationMs };
    },

    async record({ made, ...key }) {
      const bodyStart = bodies.get(nameOf(key));
      await recorder.record(key, { status: undefined, detail: undefined, ...made, bodyStart });
      bodies.delete(nameOf(key));
    },
  };

  function keep(key: AttemptKey, bodyStart: Buffer): void {
    bodies.set(nameOf(key), bodyStart);
    const [oldest] = bodies.keys();
    if (bodies.size > MAX_BODIES && oldest !== undefined) bodies.delete(oldest);
  }
}

function nameOf({ deliveryId, run, attempt }: AttemptKey): string {
  return `${deliveryId} ${run} ${attempt}`;
}
