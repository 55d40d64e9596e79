import { fileURLToPath } from "node:url";
import { WorkflowClient } from "@temporalio/client";
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
} from "@temporalio/worker";
import { eachConcurrently } from "../load/targets.ts";
import { until } from "../measure/figures.ts";
import { secondsSince, sharedNowMs } from "../measure/sample.ts";
import { answerJobs } from "../stack/jobs.ts";
import { openTemporalState } from "./temporal-state.ts";

/** The product's worker has the same (workflows/src/temporal/worker.ts). */
const CACHED_WORKFLOWS = 600;
/** Below the worker's 40 slots: a start that finds none free is not eager, and slower. */
const AT_ONCE = 32;
/** Beyond the run, and beyond what is measured of it. */
const ASLEEP_MS = 30 * 86_400_000;
const POLL_MS = 50;
const FAILED = { outcome: "receiver_busy", endedAtMs: 0 };
const logger = new DefaultLogger("ERROR");
const bundleOf = (path: string) => {
  const workflowsPath = fileURLToPath(new URL(path, import.meta.url));
  return bundleWorkflowCode({ workflowsPath, logger });
};
const bundles = new Map<string, ReturnType<typeof bundleOf>>();

/** In place of the product's: it makes no attempt, and has the workflow sleep. */
const attempt = async () => ({ kind: "rescheduled", waitMs: ASLEEP_MS });

const jobs = {
  /** Runs empty workflows, started eagerly, each awaited; returns in how many seconds. */
  empty(address: string, workflows: number): Promise<number> {
    const ids = numbered(`floor-${performance.now()}`, 0, workflows);
    const taskQueue = "floor";
    return withWorker(address, taskQueue, "./floor-workflow.ts", async (client) => {
      await eachConcurrently(
        ids,
        (workflowId) => client.execute("empty", { workflowId, taskQueue, requestEagerStart: true }),
        AT_ONCE,
      );
    });
  },
  /** Leaves deliveries asleep, numbered from `first`: after the first failed attempt or after a later one. */
  sleep(
    on: { readonly address: string; readonly stateFile: string },
    after: "first" | "later",
    first: number,
    workflows: number,
  ): Promise<number> {
    const state = openTemporalState(on.stateFile);
    const asleepBefore = state.countAsleep();
    // The workflow is begun behind the first attempt, its start delayed; in between later ones it has a timer.
    const waits = after === "first" ? { startDelay: ASLEEP_MS } : { requestEagerStart: true };
    const path = "../../workflows/src/workflow/index.ts";
    return withWorker(on.address, "asleep", path, async (client) => {
      await eachConcurrently(
        numbered("asleep", first, workflows),
        (deliveryId) =>
          client.start("deliver", {
            ...{ workflowId: `delivery-${deliveryId}-1`, taskQueue: "asleep", ...waits },
            args: [{ accountNo: 1, deliveryId, run: 1, made: [FAILED] }],
          }),
        AT_ONCE,
      );
      await until(() => state.countAsleep() - asleepBefore >= workflows, POLL_MS);
    }).finally(state.close);
  },
};
export type FloorJobs = typeof jobs;

function numbered(name: string, first: number, count: number): string[] {
  return Array.from({ length: count }, (_, place) => `${name}-${first + place}`);
}

/** Runs a worker for as long as `work` takes; only `work` is timed. */
async function withWorker(
  address: string,
  taskQueue: string,
  workflows: string,
  work: (client: WorkflowClient) => Promise<void>,
): Promise<number> {
  const bundle = bundles.get(workflows) ?? bundleOf(workflows);
  bundles.set(workflows, bundle);
  const workflowBundle = await bundle;
  const connection = await NativeConnection.connect({ address });
  try {
    const worker = await Worker.create({
      ...{ connection, taskQueue, workflowBundle, activities: { attempt } },
      maxCachedWorkflows: CACHED_WORKFLOWS,
    });
    return await worker.runUntil(async () => {
      const startedMs = sharedNowMs();
      await work(new WorkflowClient({ connection }));
      return secondsSince(startedMs);
    });
  } finally {
    await connection.close();
  }
}

Runtime.install({ logger });
answerJobs(jobs);
