import { fileURLToPath } from "node:url";
import { WorkflowClient } from "@temporalio/client";
import * as temporal from "@temporalio/worker";
import { eachConcurrently } from "../load/targets.ts";
import { until } from "../measure/figures.ts";
import { secondsSince, sharedNowMs } from "../measure/sample.ts";
import { answerJobs } from "../stack/jobs.ts";
import { openTemporalState } from "./temporal-state.ts";

/** The most cached workflows, as in the product's worker (workflows/src/temporal/worker.ts). */
const CACHED_WORKFLOWS = 600;
/**
 * The most starts at once. This is below the worker's 40 slots: without a free slot, a start is not eager and therefore
 * slower.
 */
const AT_ONCE = 32;
/** How long a workflow sleeps: longer than any bench runs. */
const ASLEEP_MS = 30 * 86_400_000;
const POLL_MS = 50;
const FAILED = { outcome: "receiver_busy", endedAtMs: 0 };
const PRODUCT = "../../workflows/src/workflow/index.ts";
const logger = new temporal.DefaultLogger("ERROR");
const bundles = new Map<string, ReturnType<typeof temporal.bundleWorkflowCode>>();

/** Replaces the product's activity. It makes no attempt and lets the workflow sleep. */
const attempt = async () => ({ kind: "rescheduled", waitMs: ASLEEP_MS });

const jobs = {
  /** Runs eagerly started empty workflows to their end. Returns how many seconds this took. */
  empty(address: string, workflows: number): Promise<number> {
    const ids = numbered(`floor-${performance.now()}`, 0, workflows);
    const options = { taskQueue: "floor", requestEagerStart: true };
    return withWorker(address, "floor", "./floor-workflow.ts", (client) =>
      eachConcurrently(
        ids,
        (workflowId) => client.execute("empty", { ...options, workflowId }),
        AT_ONCE,
      ),
    );
  },
  /** Creates sleeping deliveries, numbered from `first`, after the first failed attempt or after a later one. */
  sleep(address: string, stateFile: string, after: string, first: number, workflows: number) {
    const state = openTemporalState(stateFile);
    const asleepBefore = state.countAsleep();
    // After the first attempt the workflow has a delayed start. Between later ones it has a timer.
    const waits = after === "first" ? { startDelay: ASLEEP_MS } : { requestEagerStart: true };
    const options = { taskQueue: "asleep", ...waits };
    const ids = numbered("asleep", first, workflows);
    return withWorker(address, "asleep", PRODUCT, async (client) => {
      const start = (deliveryId: string) => {
        const args = [{ accountNo: 1, deliveryId, run: 1, made: [FAILED] }];
        return client.start("deliver", {
          ...{ ...options, workflowId: `delivery-${deliveryId}-1`, args },
        });
      };
      await eachConcurrently(ids, start, AT_ONCE);
      await until(() => state.countAsleep() - asleepBefore >= workflows, POLL_MS);
    }).finally(state.close);
  },
};
export type FloorJobs = typeof jobs;

function numbered(name: string, first: number, count: number): string[] {
  return Array.from({ length: count }, (_, place) => `${name}-${first + place}`);
}

/** Runs a worker while `work` runs. Only `work` is timed. */
async function withWorker(
  address: string,
  taskQueue: string,
  path: string,
  work: (client: WorkflowClient) => Promise<unknown>,
): Promise<number> {
  const workflowsPath = fileURLToPath(new URL(path, import.meta.url));
  const bundle = bundles.get(path) ?? temporal.bundleWorkflowCode({ workflowsPath, logger });
  bundles.set(path, bundle);
  const workflowBundle = await bundle;
  const connection = await temporal.NativeConnection.connect({ address });
  const worker = await temporal.Worker.create({
    ...{ connection, taskQueue, workflowBundle, activities: { attempt } },
    maxCachedWorkflows: CACHED_WORKFLOWS,
  });
  const timed = async () => {
    const startedMs = sharedNowMs();
    await work(new WorkflowClient({ connection }));
    return secondsSince(startedMs);
  };
  return worker.runUntil(timed).finally(() => connection.close());
}

temporal.Runtime.install({ logger });
answerJobs(jobs);
