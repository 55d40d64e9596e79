import { randomUUID } from "node:crypto";
import { setTimeout as waitUnheld } from "node:timers/promises";
import { DispatchService } from "@activity/proto";
import type { Log } from "@activity/runtime/log";
import { NO_METRICS } from "@activity/runtime/metrics";
import type { OpenMetrics } from "@activity/runtime/metrics-listener";
import { PROCESS_TIMING as timing, wait } from "@activity/runtime/timing";
import { ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { WorkflowClient } from "@temporalio/client";
import type { NativeConnectionOptions } from "@temporalio/worker";
import { createRecorder } from "./attempt/recorder.ts";
import { wallClockMs } from "./common/clock.ts";
import { createFailureLog, WorkflowBundleError } from "./common/failure.ts";
import type { DeliveryConfig } from "./config.ts";
import { startFirstAttempts } from "./dispatcher/first-attempts.ts";
import type { Poller, PollerState } from "./dispatcher/poller.ts";
import { whileCoreAnswers } from "./dispatcher/while-core-answers.ts";
import { startRetries, startWholeRuns } from "./dispatcher/workflow-runs.ts";
import { endAttempts } from "./end-attempts.ts";
import { createEgressProxy } from "./http/egress-proxy.ts";
import { createSender } from "./http/sender.ts";
import { measured } from "./http/sender-metrics.ts";
import { connectTemporal } from "./temporal/connect.ts";
import { runWorker } from "./temporal/run-worker.ts";
import { installTemporalRuntime } from "./temporal/runtime.ts";
import { throughTunnel } from "./temporal/tunnel.ts";
import { bundleWorkflows, createWorker } from "./temporal/worker.ts";
import { createActivities } from "./workflow/activities.ts";
import { createAttemptSlots, RETRY_SLOTS } from "./workflow/attempt-slots.ts";

/** The pause after the first failure to run the worker. Each further failure doubles it. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 5_000;
/**
 * The longest time of a stop. The SDK's worker could wait longer, for Temporal. `endAtSignal` ends the process thirty
 * seconds after a stop begins, and its traces need three of them.
 */
const STOPPED_WITHIN_MS = 26_000;

/** The running dispatcher and worker. */
export type RunningDeliveries = {
  /** Whether this process can claim deliveries from the core. */
  state(): PollerState | "draining";
  /** Sends no further claim. A claim in flight is still answered, and its attempts are made. */
  drain(): void;
  /** Ends waiting claims, lets attempts in flight end, and waits until they are recorded. */
  stop(): Promise<void>;
};

/**
 * Makes deliveries: by default, first attempts at once and retries in workflows. With `DELIVERY_WORKFLOWS=all`,
 * workflows make all attempts. While Temporal is away, this tries to connect again and again, and the runs for
 * workflows wait in the outbox. It handles no signals: its caller stops it.
 */
export function startDeliveries(options: {
  readonly config: DeliveryConfig;
  /** To the core, in this process or another. */
  readonly core: Transport;
  readonly log: Log;
  /**
   * The metrics that count attempts. The SDK of Temporal serves its own at the next port. If undefined, nothing is
   * counted.
   */
  readonly scraped?: Pick<OpenMetrics, "metrics" | "address">;
}): RunningDeliveries {
  const { config, core, log, scraped } = options;
  const { allowedTargets, extraCa, proxyUrl } = config;
  if (allowedTargets.size > 0) {
    log.warn("targets on this machine are allowed: for development and tests only");
  }
  if (extraCa !== undefined) {
    log.warn("targets certified by an extra CA are trusted: for development and tests only");
  }
  installTemporalRuntime(log, scraped?.address);
  const dispatch = createClient(DispatchService, core);
  const sender = measured(
    createSender({
      allowedLoopback: allowedTargets,
      ...(extraCa !== undefined && { extraCa }),
      ...(proxyUrl !== undefined && { proxy: createEgressProxy(proxyUrl) }),
    }),
    scraped?.metrics ?? NO_METRICS,
    log,
  );
  const recorder = createRecorder(dispatch, log, timing);
  const attempts: Poller | undefined =
    config.deliveryWorkflows === "retries"
      ? startFirstAttempts({ dispatch, sender, recorder, nowMs: wallClockMs, timing, log })
      : undefined;
  const activities = createActivities({
    ...{ dispatch, sender, recorder },
    slots: createAttemptSlots({ ...RETRY_SLOTS, nowMs: timing.nowMs }),
    nowMs: wallClockMs,
    timing,
  });
  /** The pollers of this process. The state of the first one is the state of this process. */
  const pollers = new Set<Poller>(attempts && [attempts]);
  let isDraining = false;
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = config.connection && superviseUntilStopped(config.connection);

  return {
    state() {
      const [first] = pollers;
      return isDraining ? "draining" : (first?.state() ?? "unavailable");
    },
    drain() {
      isDraining = true;
      for (const poller of pollers) poller.drain();
    },
    async stop() {
      isDraining = true;
      stopping.abort();
      const over = waitUnheld(STOPPED_WITHIN_MS, undefined, { ref: false });
      const ended = Promise.all([running, attempts?.stop()]);
      await endAttempts(ended, recorder, timing);
      await Promise.race([ended, over]);
      sender.close();
    },
  };

  async function superviseUntilStopped(temporal: NativeConnectionOptions): Promise<void> {
    let bundled = bundleWorkflows();
    // A failure to bundle is handled where `bundled` is awaited. Until then it must not count as unhandled.
    bundled.catch(() => undefined);
    let pauseMs = FIRST_PAUSE_MS;
    const logFailure = createFailureLog(log, timing.nowMs);
    while (!signal.aborted) {
      const startedAt = timing.nowMs();
      try {
        await whileCoreAnswers({ dispatch, timing }, signal, (installationId, stop) =>
          throughTunnel(temporal, (tunnelled) =>
            runWithTemporal(tunnelled, bundled, installationId, stop),
          ),
        );
        if (!signal.aborted) log.warn("the core is away: retries are left to other dispatchers");
      } catch (cause) {
        if (signal.aborted) return;
        const away = cause instanceof ConnectError ? "the core" : "Temporal";
        const message =
          cause instanceof WorkflowBundleError
            ? "the workflows cannot be bundled"
            : `retries wait for ${away}`;
        logFailure(message, cause);
        // A worker that lasted this long had started well, so the pauses begin with the shortest again.
        if (timing.nowMs() - startedAt > MAX_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
        await wait(timing, pauseMs, signal);
        bundled = bundled.catch(bundleWorkflows);
        bundled.catch(() => undefined);
        pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
      }
    }
  }

  async function runWithTemporal(
    temporal: NativeConnectionOptions,
    bundled: ReturnType<typeof bundleWorkflows>,
    installationId: string,
    stop: AbortSignal,
  ): Promise<void> {
    const { namespace, deliveryWorkflows, buildId } = config;
    // Two installations in one namespace must not receive each other's workflows.
    const taskQueue = config.taskQueue ?? `deliveries-${installationId}`;
    const connection = await connectTemporal({ connection: temporal, namespace }, stop);
    try {
      const bundle = await bundled;
      const identity = `${process.pid}@${randomUUID()}`;
      const client = new WorkflowClient({ connection, namespace, identity });
      const worker = await createWorker({
        ...{ connection, namespace, taskQueue, identity, bundle, activities, buildId },
      });
      const target = { client, taskQueue, buildId, nowMs: wallClockMs };
      const starter = { ...target, dispatch, recorder, timing, log };
      const starts = deliveryWorkflows === "all" ? [startWholeRuns, startRetries] : [startRetries];
      // A poller claims as soon as it starts, so a draining process starts none. It runs only its worker.
      const own = isDraining || stop.aborted ? [] : starts.map((start) => start(starter));
      for (const poller of own) pollers.add(poller);
      log.info("deliveries run", { identity });
      const stopPollers = async () => {
        for (const poller of own) pollers.delete(poller);
        await Promise.all(own.map((poller) => poller.stop()));
      };
      await runWorker(worker, stop, stopPollers, timing);
    } finally {
      await connection.close();
    }
  }
}
