import { fileURLToPath } from "node:url";
import {
  bundleWorkflowCode,
  type NativeConnection,
  Worker,
  type WorkflowBundleWithSourceMap,
} from "@temporalio/worker";
import type { Activities } from "../workflow/contract.ts";

/**
 * How many workflows may be at an attempt at once. Each that is holds its workflow task, its local activity
 * and its place in the cache until the attempt ends, so all three have one size. It is more than there are
 * slots for attempts, so that what finds none is rescheduled at once. Full of workflows that sleep, the
 * cache takes some 85 MB (140 KB each, measured).
 */
const MAX_CONCURRENT = 600;
/** The slots of a worker's retries. */
export const RETRY_SLOTS = { perEndpoint: 16, total: 400 };
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
  const workflowsPath = fileURLToPath(new URL("../workflow/index.ts", import.meta.url));
  return bundleWorkflowCode({ workflowsPath, logger: QUIET_LOGGER });
}

/** Creates a worker, which begins when it is run. */
export function createWorker(options: {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly bundle: WorkflowBundleWithSourceMap;
  readonly activities: Activities;
}): Promise<Worker> {
  const { connection, namespace, taskQueue, bundle, activities } = options;
  return Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: bundle,
    activities: { ...activities },
    maxCachedWorkflows: MAX_CONCURRENT,
    maxConcurrentWorkflowTaskExecutions: MAX_CONCURRENT,
    maxConcurrentLocalActivityExecutions: MAX_CONCURRENT,
    shutdownGraceTime: SHUTDOWN_GRACE,
  });
}
