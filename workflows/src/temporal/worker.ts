import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  bundleWorkflowCode,
  DefaultLogger,
  type NativeConnection,
  Worker,
  type WorkflowBundleOption,
} from "@temporalio/worker";
import { WorkflowBundleError } from "../common/failure.ts";
import type { Activities } from "../workflow/contract.ts";
import { withBareFailures } from "./bare-failures.ts";

/**
 * How many workflows may make an attempt at once. Until the attempt ends, each holds a workflow task, a local activity
 * and a cache entry, so all three have this limit. It exceeds the slots for attempts, because a workflow that finds no
 * slot needs all three too, for the moment until it is rescheduled. A full cache of sleeping workflows takes about 85
 * MB (140 KB each, measured).
 */
const MAX_CONCURRENT = 600;
const SHUTDOWN_GRACE = "15 seconds";

/** The file that `npm run build --workspace workflows` writes. */
export const BUILT_WORKFLOWS = fileURLToPath(new URL("../../dist/workflows.js", import.meta.url));

const SOURCES = fileURLToPath(new URL("..", import.meta.url));

const BUILDER = fileURLToPath(new URL("../build.ts", import.meta.url));
const MAX_BUNDLE_BYTES = 64 * 1024 * 1024;

/** Returns the built workflows. Bundles them if they are missing or a source is newer. Throws WorkflowBundleError. */
export async function bundleWorkflows(): Promise<WorkflowBundleOption> {
  try {
    // This returns code and no path, because a new build may replace the file.
    return { code: isBuilt() ? readFileSync(BUILT_WORKFLOWS, "utf8") : await bundledApart() };
  } catch (cause) {
    throw new WorkflowBundleError(cause);
  }
}

/** Bundles in another process: the compiler takes 190 MB, of which this process would keep 80 MB (measured). */
async function bundledApart(): Promise<string> {
  const options = { maxBuffer: MAX_BUNDLE_BYTES };
  const { stdout } = await promisify(execFile)(process.execPath, [BUILDER, "--print"], options);
  return stdout;
}

function isBuilt(): boolean {
  if (!existsSync(BUILT_WORKFLOWS)) return false;
  const builtMs = statSync(BUILT_WORKFLOWS).mtimeMs;
  const names = readdirSync(SOURCES, { recursive: true, encoding: "utf8" });
  const sources = names.filter((name) => name.endsWith(".ts"));
  return sources.every((name) => statSync(join(SOURCES, name)).mtimeMs <= builtMs);
}

/** Bundles the workflows to one script. For this, the compiler writes files to a disk. */
export async function bundledCode(): Promise<string> {
  const workflowsPath = fileURLToPath(new URL("../workflow/index.ts", import.meta.url));
  const logger = new DefaultLogger("ERROR", () => undefined);
  const { code } = await bundleWorkflowCode({ workflowsPath, logger });
  return code;
}

/**
 * Creates a worker. It does nothing until it is run. With a `buildId`, Temporal gives the worker workflows once that
 * build is the current version of the deployment. The deployment has the task queue's name. From then on, workflows
 * that older builds began continue on this build too. ADR 0044
 */
export function createWorker(options: {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Temporal stores it in histories. The SDK's default would contain the host's name. */
  readonly identity: string;
  readonly bundle: WorkflowBundleOption;
  readonly activities: Activities;
  readonly buildId?: string | undefined;
}): Promise<Worker> {
  const { connection, namespace, taskQueue, identity, bundle, activities, buildId } = options;
  return Worker.create({
    connection,
    namespace,
    identity,
    taskQueue,
    workflowBundle: bundle,
    activities: { ...withBareFailures(activities) },
    maxCachedWorkflows: MAX_CONCURRENT,
    maxConcurrentWorkflowTaskExecutions: MAX_CONCURRENT,
    maxConcurrentLocalActivityExecutions: MAX_CONCURRENT,
    shutdownGraceTime: SHUTDOWN_GRACE,
    // A workflow that cannot replay fails, and its run starts again from the database. The SDK fails the workflow only
    // at the first try of its task. ADR 0045
    workflowFailureErrorTypes: { "*": ["NondeterminismError"] },
    ...(buildId !== undefined && {
      workerDeploymentOptions: {
        version: { deploymentName: taskQueue, buildId },
        useWorkerVersioning: true,
        defaultVersioningBehavior: "AUTO_UPGRADE",
      },
    }),
  });
}
