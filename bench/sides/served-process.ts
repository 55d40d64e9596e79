import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, open, readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { baseEnv } from "../../test/harness/base-env.ts";
import { BENCH_CACHE } from "../stack/servers.ts";

/** A running program that serves. */
export type ServedProcess = { readonly pid: number; stop(): Promise<void> };

export type ServeProcess = {
  /** The name of the log file and the profile. */
  readonly name: string;
  readonly file: string;
  /** Flags of Node. */
  readonly flags?: readonly string[];
  /** Arguments of the program. */
  readonly args?: readonly string[];
  /** The sign that it serves: a port that accepts connections, or a text in its output. */
  readonly serves: { readonly port: number } | { readonly whenWritten: string };
  readonly env: Readonly<Record<string, string>>;
  /** The folder for a CPU profile at the end. */
  readonly profileFolder?: string | undefined;
};

/**
 * The flags of Node with which the image and `npm start` run the product. Without the second one, V8 lets garbage grow to
 * several times of what a process holds.
 */
export const PRODUCT_FLAGS: readonly string[] = [
  "--max-semi-space-size=8",
  "--heap-growing-percent=100",
];

/** Enough for a start on a busy machine. The tests wait as long. */
const START_MS = 90_000;
const [STOP_MS, POLL_MS] = [10_000, 20];

/** Starts a program with Node, its output in a file. Waits until it serves. */
export async function serveProcess(options: ServeProcess): Promise<ServedProcess> {
  const { name, file, flags = [], args = [], serves, env, profileFolder } = options;
  await mkdir(join(BENCH_CACHE, "logs"), { recursive: true });
  const logFile = join(BENCH_CACHE, "logs", `${name}.log`);
  const log = await open(logFile, "w");
  const command = [...flags, ...profileFlags(name, profileFolder), file, ...args];
  const child = spawn(process.execPath, command, {
    // MALLOC_ARENA_MAX is set as in the product's image.
    env: { ...baseEnv(), NODE_ENV: "production", MALLOC_ARENA_MAX: "2", ...env },
    stdio: ["ignore", log.fd, log.fd],
  });
  await log.close();
  const hasWritten = async (text: string) => (await readFile(logFile, "utf8")).includes(text);
  const deadline = performance.now() + START_MS;
  while (child.exitCode === null && performance.now() < deadline) {
    const isServing = "port" in serves ? accepts(serves.port) : hasWritten(serves.whenWritten);
    if (await isServing) return { pid: child.pid ?? 0, stop: () => stop(child) };
    await wait(POLL_MS);
  }
  await stop(child);
  throw new Error(`${name} did not start: see ${logFile}`);
}

/** The flags of Node that write a CPU profile at the end. */
export function profileFlags(name: string, folder: string | undefined): string[] {
  if (folder === undefined) return [];
  return ["--cpu-prof", `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${name}.cpuprofile`];
}

function accepts(port: number): Promise<boolean> {
  const socket = connect({ host: "127.0.0.1", port });
  return new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
  }).finally(() => socket.destroy());
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const late = AbortSignal.timeout(STOP_MS);
  late.addEventListener("abort", () => child.kill("SIGKILL"));
  await ended;
}
