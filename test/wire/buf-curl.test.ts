import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createPlatformEvent, createReader } from "../harness/builders.ts";
import { METHODS } from "../harness/methods.ts";
import { useTestStack } from "../harness/stack.ts";

const run = promisify(execFile);
const BUF = createRequire(import.meta.url).resolve("@bufbuild/buf/bin/buf");

const stack = useTestStack();

/** Runs `buf curl` outside the checkout. There it knows only the protos that the server sends. */
async function bufCurl(...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [BUF, "curl", ...args], { cwd: "/" });
  return stdout;
}

describe("buf curl, which knows only the address,", () => {
  it.each(["grpc", "grpcweb", "connect"])(
    "calls the core by reflection over %s",
    async (protocol) => {
      const { accountId, apiKey } = await createReader(stack);
      const recordId = await createPlatformEvent(stack, accountId);
      const answer = await bufCurl(
        ...["--http2-prior-knowledge", "--protocol", protocol],
        ...["--header", `Authorization: Bearer ${apiKey}`, "--data", "{}"],
        `http://127.0.0.1:${stack.corePort}/activity.read.v1.ActivityService/ListActivities`,
      );
      expect(JSON.parse(answer).activities[0]).toMatchObject({
        id: `evt_${recordId}`,
        type: "ACTIVITY_TYPE_FOLLOW",
      });
    },
  );

  it("lists every call", async () => {
    const url = `http://127.0.0.1:${stack.corePort}`;
    const listed = await bufCurl("--http2-prior-knowledge", "--list-methods", url);
    for (const { parent, name } of METHODS) expect(listed).toContain(`${parent.typeName}/${name}`);
  });
});
