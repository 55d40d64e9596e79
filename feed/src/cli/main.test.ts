import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { createRecord, KEY, startTestApi } from "../testing/test-api.ts";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));
const SINCE = ["--since", "2000-01-01T00:00:00Z"];

it.each([["follow"], ["export", "--csv"]])(
  "%s exits with 130 when interrupted, although nobody reads its output",
  async (...command) => {
    const api = await startTestApi();
    // This message is larger than the pipe and the stream's own buffer.
    api.store({ ...createRecord(1), message: "x".repeat(1_000_000) });
    const args = [MAIN, ...command, ...SINCE, "--base-url", api.baseUrl];
    const env = { ...process.env, ACTIVITY_KEY: KEY };
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(async () => {
      child.kill("SIGKILL");
      await api.close();
    });
    const exited = once(child, "exit");
    await expect.poll(() => child.stdout.readableLength).toBeGreaterThan(10_000);
    child.kill("SIGTERM");
    expect(await exited).toEqual([130, null]);
  },
);
