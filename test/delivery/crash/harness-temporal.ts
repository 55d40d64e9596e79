import { Client, Connection, type WorkflowExecutionInfo } from "@temporalio/client";
import { expect } from "vitest";
import { SIZE } from "./harness-size.ts";
import type { CrashStack } from "./harness-stack.ts";
import { listRetrying } from "./harness-states.ts";

/** A workflow as Temporal lists it. */
export type ListedWorkflow = Pick<WorkflowExecutionInfo, "workflowId" | "runId"> & {
  readonly status: string;
};

const OF_FIRST_RUN = /^delivery-([a-z0-9]{15})-1$/;
const SETTLE = { timeout: SIZE.settleMinutes * 60_000, interval: 500 };

/** Runs a function with a Temporal client and closes the client. */
export async function withTemporal<Result>(
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

/** Lists all workflows, or those that match a query. */
export function listWorkflows(stack: CrashStack, query?: string): Promise<ListedWorkflow[]> {
  return withTemporal(stack, async ({ workflow }) => {
    const listed: ListedWorkflow[] = [];
    for await (const { workflowId, runId, status } of workflow.list(query ? { query } : {})) {
      listed.push({ workflowId, runId, status: status.name });
    }
    return listed;
  });
}

/** Returns the delivery of a workflow's first run. */
function deliveryIdOf({ workflowId }: ListedWorkflow): string {
  return OF_FIRST_RUN.exec(workflowId)?.[1] ?? `not a run: ${workflowId}`;
}

/**
 * Checks that exactly the deliveries in `withWorkflow` had a workflow, each its own, and that Temporal shows all as
 * completed. All deliveries have ended.
 */
export async function expectWorkflowsOf(
  stack: CrashStack,
  deliveryIds: readonly string[],
  withWorkflow: readonly string[],
): Promise<void> {
  const asked = new Set(deliveryIds);
  const listOwn = async () =>
    (await listWorkflows(stack)).filter((listed) => asked.has(deliveryIdOf(listed)));
  const listUnended = async () => (await listOwn()).filter(({ status }) => status !== "COMPLETED");
  await expect.poll(listUnended, SETTLE).toEqual([]);
  const own = new Set((await listOwn()).map(deliveryIdOf));
  expect([...own].sort()).toEqual([...withWorkflow].sort());
}

/**
 * Checks that every delivery that waits for a retry has its own running workflow. Waits for workflows that are just
 * starting.
 */
export async function expectRetriesWait(stack: CrashStack): Promise<void> {
  const retrying = await listRetrying(stack);
  const listWithout = async () => {
    const running = await listWorkflows(stack, "ExecutionStatus = 'Running'");
    const own = new Set(running.map(deliveryIdOf));
    // A delivery that continued meanwhile needs no workflow any more.
    const still = new Set(await listRetrying(stack));
    return retrying.filter((id) => still.has(id) && !own.has(id));
  };
  await expect.poll(listWithout, SETTLE).toEqual([]);
}
