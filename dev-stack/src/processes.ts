import { readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { runCommand } from "./run-command.ts";

const POLL_MILLISECONDS = 20;
const KILL_MILLISECONDS = 10_000;

/** Tells whether a process of any user runs. A zombie does not. */
export async function isRunning(pid: number): Promise<boolean> {
  // Read first: one that is collected in between is then no longer there to be asked.
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  if (/\) [ZX] /.test(stat)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Returns a process's command line, or an empty text when there is no such process. */
export async function readCommandLine(pid: number): Promise<string> {
  try {
    return (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ");
  } catch {
    // Systems without /proc have ps.
    const { lines } = await runCommand("ps", ["-o", "args=", "-p", String(pid)]);
    return (await isRunning(pid)) ? lines.join(" ") : "";
  }
}

/** Asks a process to end, waits, and kills it when it takes longer than allowed. */
export async function endProcess(pid: number, graceMilliseconds: number): Promise<void> {
  sendSignal(pid, "SIGTERM");
  if (!(await waitForEnd(pid, graceMilliseconds))) await killProcess(pid);
}

/** Kills a process and waits until the system has taken it away. */
export async function killProcess(pid: number): Promise<void> {
  sendSignal(pid, "SIGKILL");
  await waitForEnd(pid, KILL_MILLISECONDS);
}

async function waitForEnd(pid: number, milliseconds: number): Promise<boolean> {
  const deadline = performance.now() + milliseconds;
  while (await isRunning(pid)) {
    if (performance.now() > deadline) return false;
    await wait(POLL_MILLISECONDS);
  }
  return true;
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself meanwhile.
  }
}
