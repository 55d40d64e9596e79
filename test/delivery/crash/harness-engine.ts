import { Client, Connection, type WorkflowExecutionInfo } from "@temporalio/client";
import { expect } from "vitest";
import type { CrashStack } from "./harness-stack.ts";
import { listRetried, listWaitingForRetry } from "./harness-states.ts";

/** A workflow as Temporal lists it. */
export type ListedWorkflow = Pick<WorkflowExecutionInfo, "workflowId" | "runId"> & {
  readonly status: string;
};

const ONE_DELIVERY = /^delivery-([a-z0-9]{15})-\d+$/;
const TOGETHER = /^deliveries-[0-9a-f]{32}$/;
const SETTLE = { timeout: 300_000, interval: 1_000 };

/** Runs something with a client of Temporal that is closed afterwards. */
export async function withEngine<Result>(
  { temporal }: CrashStack,
  run: (client: Client) => Promise<Result>,
): Promise<Result> {
  const connection = await Connection.connect({ address: temporal.address() });
  try {
    return await run(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

/** Lists all workflows, or those of a query. */
export function listWorkflows(stack: CrashStack, query?: string): Promise<ListedWorkflow[]> {
  return withEngine(stack, async ({ workflow }) => {
    const listed: ListedWorkflow[] = [];
    for await (const { workflowId, runId, status } of workflow.list(query ? { query } : {})) {
      listed.push({ workflowId, runId, status: status.name });
    }
    return listed;
  });
}

/**
 * Holds that Temporal agrees that all deliveries have ended: every workflow has ended well, and each
 * delivery that was retried had one of its own, once.
 */
export async function expectEngineAgrees(stack: CrashStack): Promise<ListedWorkflow[]> {
  const isRunning = "ExecutionStatus = 'Running'";
  await expect.poll(() => listWorkflows(stack, isRunning), SETTLE).toEqual([]);
  const all = await listWorkflows(stack);
  expect(all.filter(({ status }) => status !== "COMPLETED")).toEqual([]);
  const ids = all.map(({ workflowId }) => workflowId);
  expect(ids.filter((id) => !ONE_DELIVERY.test(id) && !TOGETHER.test(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
  const own = new Set(ids.map((id) => ONE_DELIVERY.exec(id)?.[1]));
  expect((await listRetried(stack)).filter((id) => !own.has(id))).toEqual([]);
  return all;
}

/**
 * Holds that for every delivery that is to be tried again a workflow of its own waits in Temporal, and
 * returns how many these are. A restart can be in the middle of handing some over, so they are given a while.
 */
export async function expectRetriesWait(stack: CrashStack): Promise<number> {
  const waiting = await listWaitingForRetry(stack);
  const withoutWorkflow = async () => {
    const running = await listWorkflows(stack, "ExecutionStatus = 'Running'");
    const own = new Set(running.map(({ workflowId }) => ONE_DELIVERY.exec(workflowId)?.[1]));
    // Those that went on meanwhile wait for nothing.
    const still = await listWaitingForRetry(stack, waiting);
    return still.filter((id) => !own.has(id));
  };
  await expect.poll(withoutWorkflow, SETTLE).toEqual([]);
  return waiting.length;
}
