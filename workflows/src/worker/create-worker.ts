import { fileURLToPath } from "node:url";
import {
  bundleWorkflowCode,
  type NativeConnection,
  Worker,
  type WorkflowBundleWithSourceMap,
} from "@temporalio/worker";
import type { Activities } from "../activities/index.ts";
import { TASK_QUEUE } from "../contract.ts";

/** Bounds the memory of a worker whose deliveries mostly sleep. */
const CACHED_WORKFLOWS = 500;
const ATTEMPTS_AT_ONCE = 200;
const SHUTDOWN_GRACE = "15 seconds";

const quiet = () => undefined;
const QUIET_LOGGER = {
  log: quiet,
  trace: quiet,
  debug: quiet,
  info: quiet,
  warn: quiet,
  error: quiet,
};

/** Bundles the workflows; once a process. */
export function bundleWorkflows(): Promise<WorkflowBundleWithSourceMap> {
  const workflowsPath = fileURLToPath(new URL("../workflows/index.ts", import.meta.url));
  return bundleWorkflowCode({ workflowsPath, logger: QUIET_LOGGER });
}

/** Creates a worker, which begins when it is run. */
export function createWorker(options: {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly bundle: WorkflowBundleWithSourceMap;
  readonly activities: Activities;
}): Promise<Worker> {
  const { connection, namespace, bundle, activities } = options;
  return Worker.create({
    connection,
    namespace,
    taskQueue: TASK_QUEUE,
    workflowBundle: bundle,
    activities: { ...activities },
    maxCachedWorkflows: CACHED_WORKFLOWS,
    maxConcurrentLocalActivityExecutions: ATTEMPTS_AT_ONCE,
    shutdownGraceTime: SHUTDOWN_GRACE,
  });
}
