import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { redactText } from "@activity/runtime/redaction";
import { NOEXEC_ADVICE, StackError } from "./stack-error.ts";
import type { Launch } from "./unpacked-root.ts";

/** A server that this process started. */
export interface RunningServer {
  pid: number;
  /** Resolves when the server has ended for any reason. */
  ended: Promise<void>;
  hasEnded(): boolean;
  /** Ends the server in order, or kills it after `graceSeconds`. */
  stop(): Promise<void>;
  /** Kills the server. */
  kill(): Promise<void>;
}

export interface StartServer {
  /** The name for people. */
  title: string;
  launch: Launch;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Receives the output of every run of the server. */
  logFile: string;
  /** Tells whether it serves. Called until it does. */
  isReady(): Promise<boolean>;
  /** How long the start and the end may take. */
  startSeconds?: number;
  graceSeconds?: number;
  /** Called once the server runs, before it serves. */
  remember?(pid: number): Promise<void>;
  /** Finds in the log why it did not start. By default the last line. */
  findCause?(log: string): string;
  /** The user and group to run as, by number. By default this process's. */
  userId?: number | undefined;
}

const POLL_MILLISECONDS = 25;

/** Starts a server. Resolves once it serves; throws {@link StackError} with the reason if it does not. */
export async function startServer(options: StartServer): Promise<RunningServer> {
  const { title, logFile, startSeconds = 60, findCause = quoteLastLine } = options;
  const log = await open(logFile, "a", 0o600);
  const { size } = await log.stat();
  const server = await spawnServer(options, log.fd).finally(() => log.close());
  try {
    await options.remember?.(server.pid);
  } catch (error) {
    await server.kill();
    throw error;
  }
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

/**
 * Spawns the server in its own process group, so that Ctrl-C does not reach it before its users have closed their
 * connections.
 */
async function spawnServer(options: StartServer, logFd: number): Promise<RunningServer> {
  const { title, launch, args, env, userId, graceSeconds = 20 } = options;
  const child = spawn(launch.command, [...launch.leading, ...args], {
    env,
    ...(userId !== undefined && { uid: userId, gid: userId }),
    detached: true,
    stdio: ["ignore", logFd, logFd],
  });
  const ended = once(child, "exit").then(() => undefined);
  await Promise.race([once(child, "spawn"), ended]).catch(({ code }) => {
    throw new StackError(
      `${title} did not start: ${launch.command} cannot be executed (${code}); ${NOEXEC_ADVICE}.`,
    );
  });
  const pid = child.pid as number; // known once spawned
  const guard = spawnGuard(pid);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const end = async (signal: NodeJS.Signals) => {
    // From now on this process waits for the server's end.
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
 * Starts a shell that ends the server once this process is gone, even after `kill -9`. The shell waits on a pipe that
 * the system then closes.
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
