import { mkdir, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { baseEnv } from "../../test/harness/base-env.ts";
import { startServer } from "../stack/dev-stack.ts";
import { BENCH_CACHE } from "../stack/servers.ts";

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
 * The flags of Node with which the image and `npm start` run the product. Without the second one, V8 lets garbage grow
 * to several times the memory in use.
 */
export const PRODUCT_FLAGS: readonly string[] = [
  "--max-semi-space-size=8",
  "--heap-growing-percent=100",
];

/** The variables of the C library with which the image and `npm start` run the product. */
export const PRODUCT_ENV = { MALLOC_ARENA_MAX: "2" };

/** How long a start may take: long enough for a busy machine. */
const START_SECONDS = 90;
const STOP_SECONDS = 10;

/** Starts a program with Node, its output in a file. Waits until it serves. */
export async function serveProcess(options: ServeProcess) {
  const { name, file, flags = [], args = [], serves, env, profileFolder } = options;
  const logs = join(BENCH_CACHE, "logs");
  const logFile = join(logs, `${name}.log`);
  await mkdir(logs, { recursive: true });
  // Removes the previous run's log, because a text in it would count as written now.
  await rm(logFile, { force: true });
  const leading = [...flags, ...profileFlags(name, profileFolder), file];
  const hasWritten = async (text: string) => (await readFile(logFile, "utf8")).includes(text);
  return startServer({
    ...{ title: name, launch: { command: process.execPath, leading }, args, logFile },
    env: { ...baseEnv(), NODE_ENV: "production", ...PRODUCT_ENV, ...env },
    isReady: () => ("port" in serves ? accepts(serves.port) : hasWritten(serves.whenWritten)),
    ...{ startSeconds: START_SECONDS, graceSeconds: STOP_SECONDS },
  });
}

/** Returns the flags of Node that write a CPU profile at the end. */
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
