import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { useFolder } from "../../test/harness/use-started.ts";
import { tryLock } from "./file-lock.ts";
import { readFirstBytes } from "./first-bytes.ts";
import { startInFolder } from "./folder-server.ts";
import { findFreePort, LOOPBACK } from "./free-port.ts";
import { isRunning } from "./processes.ts";
import { silentProgress } from "./progress.ts";
import { startServer } from "./server-process.ts";

const LISTEN =
  "require('net').createServer((it) => it.end('hi')).listen(process.argv[2] ?? 0, '127.0.0.1')";

const dataDir = useFolder("folder-server");
/** The argument that shows that a process is the folder's server. */
const OURS = `--data=${dataDir}`;
const left: ChildProcess[] = [];
afterAll(() => {
  for (const child of left) child.kill("SIGKILL");
});

const node = (...args: string[]) => ["-e", LISTEN, "--", ...args];

function start(command = process.execPath) {
  return startInFolder({
    ...{ title: "the server", dataDir, mark: OURS, port: undefined, progress: silentProgress },
    prepare: async () => (own) => ({
      launch: { command, leading: [] },
      args: node(OURS, `${own}`),
      env: process.env,
      isReady: () => readFirstBytes(LOOPBACK, own, 1_000).then(Boolean, () => false),
    }),
  });
}

/** Starts a process and records it as the folder's server. */
async function leave(mark: string, port: number): Promise<number> {
  const child = spawn(process.execPath, node(mark), { stdio: "ignore" });
  left.push(child);
  await once(child, "spawn");
  await writeFile(join(dataDir, "running.json"), JSON.stringify({ pid: child.pid, port }));
  return child.pid ?? 0;
}

it("ends the server a killed run left, but no other process with its number, and takes its port", async () => {
  for (const mark of [OURS, "--other"]) {
    const port = await findFreePort();
    const pid = await leave(mark, port);
    const server = await start();
    expect(server.port).toBe(port);
    expect(await isRunning(pid)).toBe(mark !== OURS);
    await server.stop();
    expect(await isRunning(server.pid)).toBe(false);
  }
});

it("keeps the system's code of a lock file in a folder that does not exist", () => {
  const code = expect.objectContaining({ code: "ENOENT" });
  expect(() => tryLock(join(dataDir, "missing", "lock"))).toThrow(code);
});

it("takes no lock on a file that this user may only read", async () => {
  const file = join(dataDir, "read-only");
  await writeFile(file, "", { mode: 0o444 });
  await chmod(dataDir, 0o755);
  const script = `
    const { tryLock } = await import("${new URL("file-lock.ts", import.meta.url)}");
    // Gives up root's rights, because root may write every file.
    if (process.getuid() === 0) process.setuid(65534);
    try {
      console.log(tryLock("${file}"));
    } catch ({ code }) {
      console.log(code);
    }`;
  const args = ["--input-type=module", "-e", script];
  expect(execFileSync(process.execPath, args, { encoding: "utf8", stdio: "pipe" })).toBe(
    "EACCES\n",
  );
});

it("names the program that the system refuses to execute, not the folder of its data", async () => {
  const file = join(dataDir, "program");
  await writeFile(file, "#!/bin/sh\n", { mode: 0o600 });
  await expect(start(file)).rejects.toThrow(
    `the server did not start: ${file} cannot be executed (EACCES); if its disk is mounted noexec, set XDG_CACHE_HOME`,
  );
});

it("leaves no server running that it cannot remember", async () => {
  let pid = 0;
  const started = startServer({
    ...{ title: "Sleep", launch: { command: "sleep", leading: [] }, args: ["60"] },
    ...{ env: process.env, logFile: join(dataDir, "sleep.log"), isReady: async () => true },
    remember: async (remembered) => {
      pid = remembered;
      throw new Error("no space left");
    },
  });
  await expect(started).rejects.toThrow("no space left");
  expect(await isRunning(pid)).toBe(false);
});
