import { readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { runCommand } from "./run-command.ts";

const POLL_MILLISECONDS = 20;

/** Tells whether a process of any user runs. A zombie does not. */
export async function isRunning(pid: number): Promise<boolean> {
  // Reads the state first, because `kill` also succeeds for a zombie. After `kill`, the zombie could be reaped before
  // this read, and would then count as running.
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  if (/\) [ZX] /.test(stat)) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Returns a process's command line; empty if there is no such process. */
export async function readCommandLine(pid: number): Promise<string> {
  try {
    return (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ");
  } catch {
    // Either the process has ended, or this system has no /proc, but ps.
    const { lines } = await runCommand("ps", ["-o", "args=", "-p", String(pid)]);
    return (await isRunning(pid)) ? lines.join(" ") : "";
  }
}

/** Asks a process to end, and kills it after `graceSeconds`. */
export async function endProcess(pid: number, graceSeconds: number): Promise<void> {
  for (const [signal, seconds] of [["SIGTERM", graceSeconds] as const, ["SIGKILL", 10] as const]) {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has ended meanwhile.
    }
    const deadline = performance.now() + seconds * 1_000;
    while (performance.now() < deadline) {
      if (!(await isRunning(pid))) return;
      await wait(POLL_MILLISECONDS);
    }
  }
}
