import { setTimeout as wait } from "node:timers/promises";
import { DispatchService } from "@activity/proto";
import { createClient, type Transport } from "@connectrpc/connect";
import { WorkflowClient } from "@temporalio/client";
import type { Worker } from "@temporalio/worker";
import { createAttemptPlaces } from "./activities/attempt-places.ts";
import { createActivities } from "./activities/index.ts";
import { wallClockMs } from "./clock.ts";
import type { DeliveryConfig } from "./config.ts";
import { createSender } from "./http/sender.ts";
import type { Log } from "./log.ts";
import { startRelay } from "./relay/relay.ts";
import { connectEngine } from "./worker/connect-engine.ts";
import { bundleWorkflows, createWorker } from "./worker/create-worker.ts";
import { fieldsOfEngineFailure } from "./worker/engine-failure.ts";
import { installEngineLog } from "./worker/engine-log.ts";
import { createRetrySchedule } from "./worker/schedule-retry.ts";

/** The pause after a failure; it doubles with each further one, up to what a delivery may wait for a look. §6.4 */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 5_000;

/** Deliveries that are made. */
export type RunningDeliveries = { stop(): Promise<void> };

/**
 * Runs a relay and a worker that share a connection, which is what lets a workflow begin in the very
 * process that started it. While Temporal is away it is tried again and again, and everything waits.
 * Nothing listens for signals: who starts it stops it.
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
  installEngineLog(log);
  const dispatch = createClient(DispatchService, core);
  const sender = createSender({
    allowedLoopback: allowedTargets,
    ...(extraCa !== undefined && { extraCa }),
  });
  const places = createAttemptPlaces(() => performance.now());
  const stopping = new AbortController();
  const { signal } = stopping;
  const bundled = bundleWorkflows();
  // Whoever awaits it first learns of its failure.
  bundled.catch(() => undefined);
  const running = superviseUntilStopped();

  return {
    async stop() {
      stopping.abort();
      await running;
      sender.close();
    },
  };

  async function superviseUntilStopped(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      const startedAt = performance.now();
      try {
        await runOnce();
      } catch (cause) {
        if (signal.aborted && cause === signal.reason) return;
        log.error("deliveries wait for Temporal", fieldsOfEngineFailure(cause));
        // What lasted was no failure of the start.
        if (performance.now() - startedAt > LONGEST_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
        await wait(pauseMs, undefined, { signal }).catch(() => undefined);
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      }
    }
  }

  async function runOnce(): Promise<void> {
    const connection = await connectEngine(config, signal);
    try {
      const { namespace } = config;
      const bundle = await bundled;
      const client = new WorkflowClient({ connection, namespace });
      const scheduleRetry = createRetrySchedule(client);
      const activities = createActivities({
        ...{ dispatch, sender, places, scheduleRetry },
        nowMs: wallClockMs,
      });
      const worker = await createWorker({ connection, namespace, bundle, activities });
      const relay = startRelay(dispatch, client, log);
      log.info("deliveries run");
      await runWorker(worker, () => relay.stop());
    } finally {
      await connection.close();
    }
  }

  /** Runs a worker until it is told to stop or fails; the relay stops first. */
  async function runWorker(worker: Worker, stopRelay: () => Promise<void>): Promise<void> {
    const shutDown = async () => {
      await stopRelay();
      if (worker.getState() === "RUNNING") worker.shutdown();
    };
    signal.addEventListener("abort", shutDown, { once: true });
    try {
      const run = worker.run();
      if (signal.aborted) await shutDown();
      await run;
    } finally {
      signal.removeEventListener("abort", shutDown);
      await stopRelay();
    }
  }
}
