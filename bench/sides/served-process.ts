import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, open, readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { baseEnv } from "../../dev-stack/src/base-env.ts";
import { BENCH_CACHE } from "../data/bench-database.ts";

/** A program that serves. */
export type ServedProcess = { readonly pid: number; stop(): Promise<void> };

export type ServeProcess = {
  /** Names the log file and the profile. */
  readonly name: string;
  readonly file: string;
  /** Of Node. */
  readonly flags?: readonly string[];
  /** Tells that it serves: the port that accepts connections by then, or what it has written. */
  readonly serves: { readonly port: number } | { readonly whenWritten: string };
  readonly env: Readonly<Record<string, string>>;
  /** Where to leave a CPU profile at the end. */
  readonly profileFolder: string | undefined;
};

/** Of Node, as the image and `npm start` run the product. */
export const PRODUCT_FLAGS: readonly string[] = ["--max-semi-space-size=8"];

const START_MS = 30_000;
const STOP_MS = 10_000;
const POLL_MS = 20;

/** Starts a program with Node, its output in a file, and waits until it serves. */
export async function serveProcess(options: ServeProcess): Promise<ServedProcess> {
  const folder = join(BENCH_CACHE, "logs");
  await mkdir(folder, { recursive: true });
  const logFile = join(folder, `${options.name}.log`);
  const log = await open(logFile, "w");
  const child = spawn(
    process.execPath,
    [...(options.flags ?? []), ...profileFlags(options), options.file],
    {
      env: { ...baseEnv(), NODE_ENV: "production", ...options.env },
      stdio: ["ignore", log.fd, log.fd],
    },
  );
  await log.close();
  const deadline = performance.now() + START_MS;
  while (child.exitCode === null && performance.now() < deadline) {
    if (await isServing(options, logFile)) return { pid: child.pid ?? 0, stop: () => stop(child) };
    await wait(POLL_MS);
  }
  await stop(child);
  throw new Error(`${options.name} did not start: see ${logFile}`);
}

function profileFlags({ name, profileFolder }: ServeProcess): string[] {
  if (profileFolder === undefined) return [];
  return ["--cpu-prof", `--cpu-prof-dir=${profileFolder}`, `--cpu-prof-name=${name}.cpuprofile`];
}

async function isServing({ serves }: ServeProcess, logFile: string): Promise<boolean> {
  if ("port" in serves) return accepts(serves.port);
  return (await readFile(logFile, "utf8")).includes(serves.whenWritten);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const late = AbortSignal.timeout(STOP_MS);
  late.addEventListener("abort", () => child.kill("SIGKILL"));
  await ended;
}
