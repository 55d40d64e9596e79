import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isRunning } from "./processes.ts";
import { silentProgress } from "./progress.ts";
import { startTemporal } from "./temporal.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "activity-temporal-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const start = () =>
  startTemporal({ env: process.env, dataDir: join(folder, "temporal"), progress: silentProgress });

async function withClient<Result>(address: string, work: (client: Client) => Promise<Result>) {
  const connection = await Connection.connect({ address });
  try {
    return await work(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

it("keeps what it acknowledged over a kill -9, and serves again from the same folder", async () => {
  const first = await start();
  await withClient(first.address, (client) =>
    client.workflow.start("nobody", { workflowId: "kept", taskQueue: "none" }),
  );
  await first.kill();
  const second = await start();
  const status = await withClient(second.address, async (client) => {
    const description = await client.workflow.getHandle("kept").describe();
    return description.status.name;
  });
  expect(status).toBe("RUNNING");
  await expect(start()).rejects.toThrow("in use by another copy");
  await second.stop();
  expect(await isRunning(second.pid ?? 0)).toBe(false);
});

it("uses the Temporal that TEMPORAL_ADDRESS names, and leaves it alone", async () => {
  const env = { TEMPORAL_ADDRESS: "temporal.example:7233" };
  const given = await startTemporal({ env, dataDir: join(folder, "x"), progress: silentProgress });
  expect(given).toMatchObject({ address: "temporal.example:7233", pid: undefined });
  await given.stop();
});
