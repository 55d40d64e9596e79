import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningDatabase, startDatabase } from "../../dev-stack/src/database.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { createPlatformEvent, createReader } from "../harness/builders.ts";
import { expectError } from "../harness/expectations.ts";
import { startTestStack, type TestStack } from "../harness/stack.ts";
import { useFolder } from "../harness/use-started.ts";

const PATHS = ["/api/v1/me", "/api/v1/activity"];

const folder = useFolder("outage");
let server: RunningDatabase;
let stack: TestStack;
let apiKey: string;
beforeAll(async () => {
  server = await startServer();
  stack = await startTestStack({ serverUrl: server.url });
  const reader = await createReader(stack);
  apiKey = reader.apiKey;
  await createPlatformEvent(stack, reader.accountId);
});
afterAll(async () => {
  await stack.stop();
  await server.stop();
});

function startServer(port?: number): Promise<RunningDatabase> {
  const dataDir = join(folder, "database");
  const progress = createProgress();
  return startDatabase({ env: process.env, dataDir, progress, ephemeral: true, port });
}

const untilServing = () =>
  expect
    .poll(async () => (await stack.http("/api/v1/activity", { apiKey })).status, {
      timeout: 20_000,
    })
    .toBe(200);

describe("§7 while the storage cannot serve, the answer is temporarily_unavailable", () => {
  it("when a page takes too long, because another connection has locked the feed", async () => {
    await stack.database.queryShards("LOCK TABLES activity WRITE");
    try {
      expectError(await stack.http("/api/v1/activity", { apiKey }), 503, "temporarily_unavailable");
      expect((await stack.http("/api/v1/me", { apiKey })).status).toBe(200);
    } finally {
      await stack.database.queryShards("UNLOCK TABLES");
    }
    await untilServing();
  });

  it("when the database was killed, and then it serves again without a restart", async () => {
    const port = Number(new URL(server.url).port);
    process.kill(server.pid ?? 0, "SIGKILL");
    await server.ended;
    for (const path of [...PATHS, "/nothing"]) {
      expectError(await stack.http(path, { apiKey }), 503, "temporarily_unavailable");
    }
    const bug = stack.log.filter((line) => line.includes("call failed"));
    expect(bug).toEqual([]);
    await server.stop();
    server = await startServer(port);
    await untilServing();
  });
});
