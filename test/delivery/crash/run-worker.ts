import { WorkflowClient } from "@temporalio/client";
import { createAttemptPlaces } from "../../../workflows/src/activities/attempt-places.ts";
import { createActivities } from "../../../workflows/src/activities/index.ts";
import { wallClockMs } from "../../../workflows/src/clock.ts";
import { createSender } from "../../../workflows/src/http/sender.ts";
import { bundleWorkflows, createWorker } from "../../../workflows/src/worker/create-worker.ts";
import { createRetrySchedule } from "../../../workflows/src/worker/schedule-retry.ts";
import { config, connectDispatch, connectEngine, log } from "./run-environment.ts";

/** Runs a worker without a relay, for tests that kill only one of them. */
const { namespace, allowedTargets, extraCa } = config;
const sender = createSender({
  allowedLoopback: allowedTargets,
  ...(extraCa !== undefined && { extraCa }),
});
const connection = await connectEngine();
const worker = await createWorker({
  connection,
  namespace,
  bundle: await bundleWorkflows(),
  activities: createActivities({
    dispatch: connectDispatch(),
    sender,
    places: createAttemptPlaces(() => performance.now()),
    scheduleRetry: createRetrySchedule(new WorkflowClient({ connection, namespace })),
    nowMs: wallClockMs,
  }),
});
log.info("worker runs");
await worker.run();
