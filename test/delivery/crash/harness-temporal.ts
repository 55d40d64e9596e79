import { Connection, WorkflowClient, type WorkflowExecutionInfo } from "@temporalio/client";
import { expect } from "vitest";
import { type CrashStack, SETTLE } from "./harness-stack.ts";

const OF_FIRST_RUN = /^delivery-([a-z0-9]{15})-1$/;

/** Lists all workflows. */
async function listWorkflows({ temporal }: CrashStack): Promise<WorkflowExecutionInfo[]> {
  const connection = await Connection.connect({ address: temporal.address() });
  const listed: WorkflowExecutionInfo[] = [];
  for await (const info of new WorkflowClient({ connection }).list()) listed.push(info);
  await connection.close();
  return listed;
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
