import { type ChildProcess, spawn } from "node:child_process";
import { open } from "node:fs/promises";
import { endProcess, killProcess } from "./processes.ts";

/** A server started by this process. */
export interface ServerProcess {
  pid: number;
  /** Resolves when the server has ended, for whatever reason. */
  ended: Promise<void>;
  hasEnded(): boolean;
  /** Ends the server in order, or by force when it takes longer than allowed. */
  stop(graceMilliseconds: number): Promise<void>;
  /** Ends the server at once, as a crash would. */
  kill(): Promise<void>;
}

export interface SpawnServer {
  command: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Receives everything the server says. */
  logFile: string;
  /** The user and group it runs as, by number; those of this process unless told. */
  userId?: number | undefined;
}

/**
 * Starts a server in a process group of its own, so that Ctrl-C in the terminal does not reach it
 * before its users have closed their connections.
 */
export async function spawnServer(options: SpawnServer): Promise<ServerProcess> {
  const log = await open(options.logFile, "a", 0o600);
  try {
    const child = spawn(options.command, options.args, {
      env: options.env,
      ...(options.userId !== undefined && { uid: options.userId, gid: options.userId }),
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
    });
    const pid = await pidOf(child);
    return superviseServer(child, pid);
  } finally {
    await log.close();
  }
}

function superviseServer(child: ChildProcess, pid: number): ServerProcess {
  const guard = spawnGuard(pid);
  let isOver = child.exitCode !== null || child.signalCode !== null;
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      isOver = true;
      guard.kill("SIGKILL");
      resolve();
    };
    if (isOver) end();
    else child.once("exit", end);
  });
  child.unref();
  return {
    pid,
    ended,
    hasEnded: () => isOver,
    async stop(graceMilliseconds) {
      guard.kill("SIGKILL");
      if (!isOver) await endProcess(pid, graceMilliseconds);
    },
    async kill() {
      guard.kill("SIGKILL");
      if (!isOver) await killProcess(pid);
    },
  };
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
  guard.stdin?.on("error", () => undefined);
  return guard;
}

function pidOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("spawn", () => resolve(child.pid as number)); // known once spawned
  });
}
