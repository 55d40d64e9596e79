import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { redactText } from "@activity/runtime/redaction";
import { StackError } from "./stack-error.ts";
import type { Launch } from "./unpacked-root.ts";

/** A server started by this process. */
export interface RunningServer {
  pid: number;
  /** Resolves when the server has ended, asked or not. */
  ended: Promise<void>;
  hasEnded(): boolean;
  /** Ends the server in order, or by force when it takes longer than it may. */
  stop(): Promise<void>;
  /** Ends the server at once, as a crash would. */
  kill(): Promise<void>;
}

export interface StartServer {
  /** What a person calls it. */
  title: string;
  launch: Launch;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Receives everything that it says, of all its lives. */
  logFile: string;
  /** Tells whether it serves; asked until it does. */
  isReady(): Promise<boolean>;
  /** How long it may take to serve, and to end. */
  startSeconds?: number;
  graceSeconds?: number;
  /** Called when it runs, before it serves. */
  remember?(pid: number): Promise<void>;
  /** Finds in its log why it did not start; the last line unless told. */
  findCause?(log: string): string;
  /** The user and group it runs as, by number; those of this process unless told. */
  userId?: number | undefined;
}

const POLL_MILLISECONDS = 25;

/** Starts a server and resolves once it serves; throws {@link StackError} with its reason when it does not. */
export async function startServer(options: StartServer): Promise<RunningServer> {
  const { title, logFile, startSeconds = 60, findCause = quoteLastLine } = options;
  const log = await open(logFile, "a", 0o600);
  const { size } = await log.stat();
  const server = await spawnServer(options, log.fd).finally(() => log.close());
  await options.remember?.(server.pid);
  const deadline = performance.now() + startSeconds * 1_000;
  while (!server.hasEnded() && performance.now() < deadline) {
    if (await options.isReady()) return server;
    await wait(POLL_MILLISECONDS);
  }
  const late = server.hasEnded() ? "" : `it does not serve in ${startSeconds} s, and `;
  await server.kill();
  const cause = findCause((await readFile(logFile)).toString("utf8", size));
  throw new StackError(`${title} did not start: ${late}${cause} (its log: ${logFile}).`);
}

/** In a process group of its own, so that Ctrl-C in the terminal does not reach it before its users have closed their connections. */
async function spawnServer(options: StartServer, logFd: number): Promise<RunningServer> {
  const { launch, args, env, userId, graceSeconds = 20 } = options;
  const child = spawn(launch.command, [...launch.leading, ...args], {
    env,
    ...(userId !== undefined && { uid: userId, gid: userId }),
    detached: true,
    stdio: ["ignore", logFd, logFd],
  });
  const ended = once(child, "exit").then(() => undefined);
  await Promise.race([once(child, "spawn"), ended]);
  const pid = child.pid as number; // known once spawned
  const guard = spawnGuard(pid);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const end = async (signal: NodeJS.Signals) => {
    // From here on its end is waited for.
    child.ref();
    guard.kill("SIGKILL");
    child.kill(signal);
    const timer = setTimeout(() => child.kill("SIGKILL"), graceSeconds * 1_000);
    await ended;
    clearTimeout(timer);
  };
  child.unref();
  ended.then(() => guard.kill("SIGKILL"));
  return { pid, ended, hasEnded, stop: () => end("SIGTERM"), kill: () => end("SIGKILL") };
}

/**
 * Starts a shell that ends the server when this process is gone, even by `kill -9`: the shell waits
 * on a pipe that the system closes then.
 */
function spawnGuard(serverPid: number): ChildProcess {
  const guard = spawn("sh", ["-c", 'read -r _; kill -TERM "$0"', String(serverPid)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.on("error", () => undefined);
  guard.unref();
  guard.stdin.on("error", () => undefined);
  return guard;
}

function quoteLastLine(log: string): string {
  const last = log.trim().split("\n").at(-1);
  return last ? `it says “${redactText(last).slice(0, 300)}”` : "it gives no reason";
}
