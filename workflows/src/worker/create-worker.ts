import { fileURLToPath } from "node:url";
import {
  bundleWorkflowCode,
  type NativeConnection,
  Worker,
  type WorkflowBundleWithSourceMap,
} from "@temporalio/worker";
import type { Activities } from "../activities/index.ts";
import { TASK_QUEUE } from "../contract.ts";

/**
 * How many workflows may be at an attempt at once. Each that is holds its workflow task, its local activity
 * and its place in the cache until the attempt ends, so all three have one size: were one of them full of
 * attempts that hang, no other delivery could begin. It is more than several accounts whose endpoints
 * all hang can fill. Full of workflows that sleep, the cache takes some 280 MB (140 KB each, measured).
 */
const WORKFLOWS_AT_ONCE = 2_000;
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
    maxCachedWorkflows: WORKFLOWS_AT_ONCE,
    maxConcurrentWorkflowTaskExecutions: WORKFLOWS_AT_ONCE,
    maxConcurrentLocalActivityExecutions: WORKFLOWS_AT_ONCE,
    shutdownGraceTime: SHUTDOWN_GRACE,
  });
}
