import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { WorkflowClient } from "@temporalio/client";
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  type WorkflowBundleWithSourceMap,
} from "@temporalio/worker";
import { answerJobs } from "../../load/jobs.ts";
import { openTemporalState } from "./temporal-state.ts";

/** Work for Temporal alone, without the product. */
export type FloorJob =
  /** Empty workflows, started eagerly, each awaited. */
  | { readonly do: "empty"; readonly address: string; readonly workflows: number }
  /** Deliveries that sleep, numbered from `first`: after the first failed attempt or after a later one. */
  | {
      readonly do: "sleep";
      readonly after: "first" | "later";
      readonly address: string;
      /** Tells when they sleep, which is later than they are started. */
      readonly stateFile: string;
      readonly first: number;
      readonly workflows: number;
    };

/** How long Temporal took. */
export type FloorAnswer = { readonly seconds: number };

/** The product's worker has the same (workflows/src/temporal/worker.ts). */
const CACHED_WORKFLOWS = 600;
/** Below the worker's 40 slots: a start that finds none free is not eager, and slower. */
const AT_ONCE = 32;
/** Beyond the run, and beyond what is measured of it. */
const ASLEEP_MS = 30 * 86_400_000;

const FLOOR_QUEUE = "floor";
const DELIVERIES_QUEUE = "asleep";
const POLL_MS = 50;
const logger = new DefaultLogger("ERROR");
const FLOOR_WORKFLOWS = fileURLToPath(new URL("./floor-workflow.ts", import.meta.url));
const PRODUCT_WORKFLOWS = fileURLToPath(
  new URL("../../../workflows/src/workflow/index.ts", import.meta.url),
);
const bundles = new Map<string, WorkflowBundleWithSourceMap>();

async function runJob(job: FloorJob): Promise<FloorAnswer> {
  switch (job.do) {
    case "empty": {
      const taskQueue = FLOOR_QUEUE;
      const prefix = `floor-${performance.now()}`;
      return withWorker(job.address, taskQueue, FLOOR_WORKFLOWS, (client) =>
        concurrently(job.workflows, async (index) => {
          const workflowId = `${prefix}-${index}`;
          await client.execute("empty", { workflowId, taskQueue, requestEagerStart: true });
        }),
      );
    }
    case "sleep":
      return withWorker(job.address, DELIVERIES_QUEUE, PRODUCT_WORKFLOWS, (client) =>
        putToSleep(client, job),
      );
  }
}

const FAILED = { outcome: "receiver_busy", endedAtMs: 0 };
/** In place of the product's: it makes no attempt, and has the workflow sleep. */
const attempt = async () => ({ kind: "rescheduled", waitMs: ASLEEP_MS });

async function putToSleep(
  client: WorkflowClient,
  { after, stateFile, first, workflows }: Extract<FloorJob, { do: "sleep" }>,
): Promise<void> {
  const state = openTemporalState(stateFile);
  const asleepBefore = state.countAsleep();
  // The workflow is begun behind the first attempt, its start delayed; in between later ones it has a timer.
  const waits = after === "first" ? { startDelay: ASLEEP_MS } : { requestEagerStart: true };
  await concurrently(workflows, async (index) => {
    const deliveryId = `asleep-${first + index}`;
    await client.start("deliver", {
      workflowId: `delivery-${deliveryId}-1`,
      taskQueue: DELIVERIES_QUEUE,
      args: [{ accountNo: 1, deliveryId, run: 1, made: [FAILED] }],
      ...waits,
    });
  });
  while (state.countAsleep() - asleepBefore < workflows) await wait(POLL_MS);
  state.close();
}

/** Runs a worker for as long as `work` takes; only `work` is timed. */
async function withWorker(
  address: string,
  taskQueue: string,
  workflowsPath: string,
  work: (client: WorkflowClient) => Promise<void>,
): Promise<FloorAnswer> {
  const workflowBundle =
    bundles.get(workflowsPath) ?? (await bundleWorkflowCode({ workflowsPath, logger }));
  bundles.set(workflowsPath, workflowBundle);
  const connection = await NativeConnection.connect({ address });
  try {
    const worker = await Worker.create({
      connection,
      taskQueue,
      workflowBundle,
      activities: { attempt },
      maxCachedWorkflows: CACHED_WORKFLOWS,
    });
    const client = new WorkflowClient({ connection });
    return await worker.runUntil(async () => {
      const startedMs = performance.now();
      await work(client);
      return { seconds: (performance.now() - startedMs) / 1000 };
    });
  } finally {
    await connection.close();
  }
}

async function concurrently(count: number, run: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const loop = async () => {
    while (next < count) await run(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, loop));
}

Runtime.install({ logger });
answerJobs(runJob);
