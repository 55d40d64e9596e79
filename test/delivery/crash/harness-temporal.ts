import { Client, Connection, type WorkflowExecutionInfo } from "@temporalio/client";
import { expect } from "vitest";
import { SIZE } from "./harness-size.ts";
import type { CrashStack } from "./harness-stack.ts";

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

/** Lists all workflows. */
export function listWorkflows(stack: CrashStack): Promise<WorkflowExecutionInfo[]> {
  return withTemporal(stack, async ({ workflow }) => {
    const listed: WorkflowExecutionInfo[] = [];
    for await (const info of workflow.list()) listed.push(info);
    return listed;
  });
}

/** Returns the delivery of a workflow's first run. */
function deliveryIdOf({ workflowId }: WorkflowExecutionInfo): string {
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
  const listUnended = async () =>
    (await listOwn()).filter(({ status }) => status.name !== "COMPLETED").map(deliveryIdOf);
  await expect.poll(listUnended, SETTLE).toEqual([]);
  const own = new Set((await listOwn()).map(deliveryIdOf));
  expect([...own].sort()).toEqual([...withWorkflow].sort());
}
