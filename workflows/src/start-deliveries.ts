import { setTimeout as wait } from "node:timers/promises";
import { DispatchService } from "@activity/proto";
import { createClient, type Transport } from "@connectrpc/connect";
import { WorkflowClient } from "@temporalio/client";
import type { NativeConnectionOptions, Worker } from "@temporalio/worker";
import { createRecorder } from "./attempt/recorder.ts";
import { wallClockMs } from "./clock.ts";
import type { DeliveryConfig } from "./config.ts";
import { startFirstAttempts } from "./dispatcher/first-attempts.ts";
import type { Poller } from "./dispatcher/poller.ts";
import { startRetries, startWholeRuns } from "./dispatcher/workflow-runs.ts";
import { createSender } from "./http/sender.ts";
import type { Log } from "./log.ts";
import { connectTemporal } from "./temporal/connect.ts";
import { fieldsOfTemporalFailure } from "./temporal/failure.ts";
import { installTemporalLog } from "./temporal/log.ts";
import { bundleWorkflows, createWorker, RETRY_SLOTS } from "./temporal/worker.ts";
import { createActivities } from "./workflow/activities.ts";
import { createAttemptSlots } from "./workflow/attempt-slots.ts";

/** The pause after a failure of Temporal; it doubles with each further one. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 5_000;
/** What attempts that were made get to be recorded at a stop. */
const RECORD_WITHIN_MS = 10_000;
const ANSWER_WITHIN_MS = 5_000;

/** Deliveries that are made. */
export type RunningDeliveries = { stop(): Promise<void> };

/**
 * Makes deliveries: first attempts at once, retries in workflows while Temporal is there; while it is away it is
 * tried again and again, and retries wait in the outbox. Nothing listens for signals: who starts it stops
 * it.
 */
export function startDeliveries(options: {
  readonly config: DeliveryConfig;
  /** To the core, in this process or elsewhere. */
  readonly core: Transport;
  readonly log: Log;
}): RunningDeliveries {
  const { config, core, log } = options;
  const { allowedTargets, extraCa } = config;
  if (allowedTargets.size > 0) {
    log.warn("targets on this machine are allowed: for development and tests only");
  }
  if (extraCa !== undefined) {
    log.warn("targets certified by an extra CA are trusted: for development and tests only");
  }
  installTemporalLog(log);
  const dispatch = createClient(DispatchService, core);
  const sender = createSender({
    allowedLoopback: allowedTargets,
    ...(extraCa !== undefined && { extraCa }),
  });
  const recorder = createRecorder(dispatch, log);
  const attempts: Poller | undefined =
    config.deliveryWorkflows === "retries"
      ? startFirstAttempts({ dispatch, sender, recorder, nowMs: wallClockMs, log })
      : undefined;
  const activities = createActivities({
    ...{ dispatch, sender, recorder },
    slots: createAttemptSlots(RETRY_SLOTS),
    nowMs: wallClockMs,
    random: Math.random,
  });
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = config.connection && superviseUntilStopped(config.connection);

  return {
    async stop() {
      stopping.abort();
      await Promise.all([running, attempts?.stop()]);
      await recorder.close(RECORD_WITHIN_MS);
      sender.close();
    },
  };

  async function superviseUntilStopped(temporal: NativeConnectionOptions): Promise<void> {
    const bundled = bundleWorkflows();
    // Whoever awaits it first learns of its failure.
    bundled.catch(() => undefined);
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      const startedAt = performance.now();
      try {
        await runWithTemporal(temporal, bundled);
      } catch (cause) {
        if (signal.aborted && cause === signal.reason) return;
        log.error("retries wait for Temporal", fieldsOfTemporalFailure(cause));
        // What lasted was no failure of the start.
        if (performance.now() - startedAt > MAX_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
        await wait(pauseMs, undefined, { signal }).catch(() => undefined);
        pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
      }
    }
  }

  async function runWithTemporal(
    temporal: NativeConnectionOptions,
    bundled: ReturnType<typeof bundleWorkflows>,
  ): Promise<void> {
    const { namespace, deliveryWorkflows } = config;
    const taskQueue = config.taskQueue ?? (await defaultTaskQueue());
    const connection = await connectTemporal({ connection: temporal, namespace }, signal);
    try {
      const bundle = await bundled;
      const client = new WorkflowClient({ connection, namespace });
      const worker = await createWorker({ connection, namespace, taskQueue, bundle, activities });
      const starter = { dispatch, client, taskQueue, log };
      const pollers = [startRetries(starter)];
      if (deliveryWorkflows === "all") pollers.push(startWholeRuns(starter));
      log.info("deliveries run");
      await runWorker(worker, async () => {
        await Promise.all(pollers.map((poller) => poller.stop()));
      });
    } finally {
      await connection.close();
    }
  }

  /** Two installations in one namespace must not get each other's workflows. */
  async function defaultTaskQueue(): Promise<string> {
    const { id } = await dispatch.getInstallation({}, { timeoutMs: ANSWER_WITHIN_MS, signal });
    return `deliveries-${id}`;
  }

  /** Runs a worker until it is told to stop or fails; the pollers stop first. */
  async function runWorker(worker: Worker, stopPollers: () => Promise<void>): Promise<void> {
    const shutDown = async () => {
      await stopPollers();
      if (worker.getState() === "RUNNING") worker.shutdown();
    };
    signal.addEventListener("abort", shutDown, { once: true });
    try {
      const run = worker.run();
      if (signal.aborted) await shutDown();
      await run;
    } finally {
      signal.removeEventListener("abort", shutDown);
      await stopPollers();
    }
  }
}
