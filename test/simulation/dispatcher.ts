import { once } from "node:events";
import { DispatchService } from "@activity/proto";
import { wait } from "@activity/runtime/timing";
import { createRecorder, type Recorder } from "../../workflows/src/attempt/recorder.ts";
import { startFirstAttempts } from "../../workflows/src/dispatcher/first-attempts.ts";
import { whileCoreAnswers } from "../../workflows/src/dispatcher/while-core-answers.ts";
import { startRetries, startWholeRuns } from "../../workflows/src/dispatcher/workflow-runs.ts";
import { createActivities } from "../../workflows/src/workflow/activities.ts";
import { createAttemptSlots, RETRY_SLOTS } from "../../workflows/src/workflow/attempt-slots.ts";
import { createRunStory } from "../../workflows/src/workflow/run-story.ts";
import { QUIET } from "../harness/quiet.ts";
import type { Attempts } from "./attempts.ts";
import type { Network } from "./network.ts";
import type { Safety } from "./safety.ts";
import type { Temporal } from "./temporal.ts";
import { createWire, type WireParts } from "./wire.ts";

const ATTEMPTS_END_WITHIN_MS = 20_000;
const RECORD_WITHIN_MS = 5_000;
/** How long a dispatcher waits before it looks for the core again. */
const PAUSE_MS = 1_000;

export type Dispatcher = ReturnType<typeof createDispatcher>;

/** Starts a dispatcher process: the real pollers, recorder, activities and workflows. */
export function createDispatcher(
  wire: Omit<WireParts, "process">,
  name: string,
  parts: {
    readonly temporal: Temporal;
    /** How far the dispatcher's wall clock is ahead. */
    readonly aheadMs: number;
    /** Whether `DELIVERY_WORKFLOWS` is `all`. */
    readonly isWhole: boolean;
    readonly network: Network;
    readonly attempts: Attempts;
    readonly safety: Pick<Safety, "onStopped" | "onRecorded">;
  },
) {
  const { world } = wire;
  const { temporal, aheadMs, isWhole, network, attempts, safety } = parts;
  const process = world.startProcess(name, aheadMs);
  const { timing, wallMs: nowMs } = process;
  const dispatch = createWire({ ...wire, process }, DispatchService);
  const sender = network.createSender(process, attempts);
  const real = createRecorder(dispatch, QUIET, timing);
  const recorder: Recorder = {
    ...real,
    async record(key, ...made) {
      await real.record(key, ...made);
      safety.onRecorded(key);
    },
  };
  const first = isWhole
    ? undefined
    : startFirstAttempts({ dispatch, sender, recorder, nowMs, timing, log: QUIET });
  const slots = createAttemptSlots({ ...RETRY_SLOTS, nowMs: timing.nowMs });
  const activities = createActivities({
    ...{ dispatch, sender, recorder, slots, nowMs, timing },
    // Only the version before reads this.
    ...{ firstAreClaimed: isWhole },
  });
  const client = temporal.client(process);
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = runRetries();

  async function runRetries(): Promise<void> {
    while (!signal.aborted) {
      const contact = { dispatch, timing };
      await whileCoreAnswers(contact, signal, workForTemporal).catch(() => undefined);
      await wait(timing, PAUSE_MS, signal);
    }
  }

  async function workForTemporal(_installationId: string, stop: AbortSignal): Promise<void> {
    const leave = temporal.connect({ process, activities, createRunStory });
    const starter = {
      client,
      taskQueue: "deliveries",
      nowMs,
      dispatch,
      recorder,
      timing,
      log: QUIET,
    };
    const pollers = [startRetries, ...(isWhole ? [startWholeRuns] : [])].map((start) =>
      start(starter),
    );
    if (!stop.aborted) await once(stop, "abort");
    leave();
    await Promise.all(pollers.map((poller) => poller.stop()));
  }

  return {
    process,
    /** Stops the dispatcher as a deployment does: attempts in flight end, and are recorded. */
    async stop(): Promise<void> {
      stopping.abort();
      const ended = Promise.all([running, first?.stop()]);
      await Promise.race([ended, wait(timing, ATTEMPTS_END_WITHIN_MS)]);
      await recorder.close(RECORD_WITHIN_MS);
      if (process.isAlive()) safety.onStopped(process);
      process.kill();
    },
  };
}
