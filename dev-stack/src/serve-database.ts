import { readFile, rename, stat, writeFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { type Credentials, initStatements } from "./credentials.ts";
import { dataFolderPaths } from "./data-folder.ts";
import { findFreePort, isPortFree, LOOPBACK } from "./free-port.ts";
import { findLogCause } from "./log-cause.ts";
import { forgetRunning, recordRunning } from "./running-record.ts";
import { readGreeting } from "./server-greeting.ts";
import { serveOptions } from "./server-options.ts";
import { type ServerProcess, spawnServer } from "./server-process.ts";
import { FLAVOUR_NAMES, type ServerProgram } from "./server-program.ts";
import { createSocketPath } from "./socket-path.ts";
import { StackError } from "./stack-error.ts";

export interface ServeDatabase {
  program: ServerProgram;
  credentials: Credentials;
  dataDir: string;
  /** The only port that will do. */
  port: number | undefined;
  /** The port to take when it is free. */
  preferredPort: number | undefined;
  env: NodeJS.ProcessEnv;
  serverOptions: readonly string[];
  isEphemeral: boolean;
}

/** A server that accepts connections. */
export interface ServingDatabase {
  port: number;
  pid: number;
  ended: Promise<void>;
  stop(): Promise<void>;
}

const START_MILLISECONDS = 300_000;
const POLL_MILLISECONDS = 25;
const LOG_LIMIT_BYTES = 4 * 1024 * 1024;
const PORT_ATTEMPTS = 3;

/** Starts a server on a data folder that is ready, and waits until it accepts connections. */
export async function serveDatabase(options: ServeDatabase): Promise<ServingDatabase> {
  await rotateLog(dataFolderPaths(options.dataDir).log);
  for (let attempt = 1; ; attempt++) {
    const port = await choosePort(options, attempt);
    const outcome = await serveOnPort(options, port);
    if ("pid" in outcome) return outcome;
    // Between finding a free port and taking it, another program can be quicker.
    if (outcome.kind === "port-taken" && options.port === undefined && attempt < PORT_ATTEMPTS) {
      continue;
    }
    const name = FLAVOUR_NAMES[options.program.flavour];
    const { log } = dataFolderPaths(options.dataDir);
    throw new StackError(`${name} did not start: ${outcome.sentence} (its log: ${log}).`);
  }
}

async function choosePort(
  { port, preferredPort }: ServeDatabase,
  attempt: number,
): Promise<number> {
  if (port !== undefined) {
    if (await isPortFree(port)) return port;
    throw new StackError(
      `Port ${port}, wanted for the database, is taken: stop the program that listens on it, or choose another port.`,
    );
  }
  const isUsable =
    attempt === 1 && preferredPort !== undefined && (await isPortFree(preferredPort));
  return isUsable ? preferredPort : findFreePort();
}

async function serveOnPort(
  options: ServeDatabase,
  port: number,
): Promise<ServingDatabase | ReturnType<typeof findLogCause>> {
  const { program, dataDir, isEphemeral } = options;
  const { data, log, initFile, pidFile } = dataFolderPaths(dataDir);
  const socket = await createSocketPath(dataDir);
  const logStart = await sizeOf(log);
  await writeFile(initFile, initStatements(options.credentials, isEphemeral), { mode: 0o600 });
  const places = { data, socket, pidFile, initFile, port };
  const server = await spawnServer({
    command: program.command,
    args: [
      ...program.leading,
      "--no-defaults",
      ...program.placement,
      ...serveOptions(program.flavour, places, isEphemeral),
      ...options.serverOptions,
    ],
    env: options.env,
    logFile: log,
  });
  await recordRunning(dataDir, { pid: server.pid, socket });
  const stop = async () => {
    await server.stop(isEphemeral ? 10_000 : 60_000);
    await forgetRunning(dataDir, socket);
  };
  const isServing = await waitUntilServing(server, port);
  if (isServing) return { port, pid: server.pid, ended: server.ended, stop };
  const hasEnded = server.hasEnded();
  await stop();
  if (hasEnded) return findLogCause((await readFile(log)).toString("utf8", logStart));
  return { kind: "other", sentence: `it accepted no connection in ${START_MILLISECONDS / 1000} s` };
}

/** A server greets only after it has run its init file, so a greeting means it is ready. */
async function waitUntilServing(server: ServerProcess, port: number): Promise<boolean> {
  const deadline = performance.now() + START_MILLISECONDS;
  while (!server.hasEnded() && performance.now() < deadline) {
    const greeting = await readGreeting(LOOPBACK, port, deadline - performance.now());
    if (greeting.kind === "server") return true;
    await wait(POLL_MILLISECONDS);
  }
  return false;
}

async function rotateLog(log: string): Promise<void> {
  if ((await sizeOf(log)) > LOG_LIMIT_BYTES) await rename(log, `${log}.1`);
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}
