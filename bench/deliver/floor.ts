import { fileURLToPath } from "node:url";
import { WorkflowClient } from "@temporalio/client";
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from "@temporalio/worker";

const TASK_QUEUE = "floor";
const AT_ONCE = 64;
const QUIET = new DefaultLogger("ERROR");

/** Measures how many empty workflows a second the engine completes, started eagerly: its floor. */
export async function measureFloor(address: string, workflows: number): Promise<number> {
  const workflowsPath = fileURLToPath(new URL("./floor-workflow.ts", import.meta.url));
  const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: QUIET });
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({ connection, taskQueue: TASK_QUEUE, workflowBundle });
  const client = new WorkflowClient({ connection });
  let next = 0;
  const run = async () => {
    const startedMs = performance.now();
    const lanes = Array.from({ length: AT_ONCE }, async () => {
      while (next < workflows) {
        const workflowId = `floor-${process.pid}-${next++}`;
        const options = { workflowId, taskQueue: TASK_QUEUE, requestEagerStart: true };
        await client.execute("empty", options);
      }
    });
    await Promise.all(lanes);
    return workflows / ((performance.now() - startedMs) / 1000);
  };
  try {
    return await worker.runUntil(run());
  } finally {
    await connection.close();
  }
}
