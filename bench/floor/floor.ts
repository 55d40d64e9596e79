import { WorkflowClient } from "@temporalio/client";
import { NativeConnection } from "@temporalio/worker";
import type { Bench } from "../run/bench.ts";
import { startWorker } from "../stack/jobs.ts";
import type { FloorJobs } from "./floor-worker.ts";

/** Starts the process that uses Temporal without the product. */
export function startFloor(bench: Bench) {
  return startWorker<FloorJobs>(bench, new URL("./floor-worker.ts", import.meta.url));
}

/** Runs eagerly started empty workflows until all have ended. */
export async function runFloor(
  { jobs }: ReturnType<typeof startFloor>,
  { address }: { readonly address: string },
  count: number,
): Promise<{ count: number; perSecond: number }> {
  return { count, perSecond: count / (await jobs.empty(address, count)) };
}

/** Creates a client for the workflows of a Temporal server. */
export async function connectTemporal({ closeLater }: Bench, address: string) {
  const connection = await NativeConnection.connect({ address });
  closeLater(() => connection.close());
  return new WorkflowClient({ connection });
}
