import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { dataFolderPaths } from "./data-folder.ts";
import { isRunning } from "./processes.ts";
import { silentProgress } from "./progress.ts";
import { endPreviousServer, recordRunning } from "./running-record.ts";

let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "running-record-"));
});

afterEach(() => rm(dataDir, { recursive: true, force: true }));

it("ends the server a killed run left, and no other process with its number", async () => {
  const ours = await spawnIdle(`--datadir=${dataFolderPaths(dataDir).data}`);
  const other = await spawnIdle(`--datadir=${dataFolderPaths(dataDir).data}-of-another`);
  try {
    for (const { pid } of [ours, other]) {
      await recordRunning(dataDir, { pid, socket: join(dataDir, "server.sock") });
      await endPreviousServer(dataDir, silentProgress);
    }
    expect(await isRunning(ours.pid)).toBe(false);
    expect(await isRunning(other.pid)).toBe(true);
  } finally {
    other.child.kill("SIGKILL");
    ours.child.kill("SIGKILL");
  }
});

async function spawnIdle(argument: string) {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", "--", argument], {
    stdio: "ignore",
  });
  await once(child, "spawn");
  if (child.pid === undefined) throw new Error("not started");
  return { child, pid: child.pid };
}
