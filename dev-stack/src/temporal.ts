import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { redactText } from "@activity/runtime/redaction";
import { Connection } from "@temporalio/client";
import { cacheFolder } from "./cache-folder.ts";
import { tryLock } from "./file-lock.ts";
import { findFreePort, isPortFree, LOOPBACK } from "./free-port.ts";
import { endProcess, isRunning, readCommandLine } from "./processes.ts";
import type { Progress } from "./progress.ts";
import { type ServerProcess, spawnServer } from "./server-process.ts";
import { StackError, stackErrorFromFile } from "./stack-error.ts";
import { findTemporal } from "./temporal-program.ts";

export interface StartTemporal {
  /** `TEMPORAL_ADDRESS` and `TEMPORAL_CLI` are read from here, and PATH. */
  env: NodeJS.ProcessEnv;
  /** Everything of Temporal lies here; created when it is not there. */
  dataDir: string;
  /** Where fetched programs are kept; the user's cache folder unless told. */
  cacheDir?: string | undefined;
  progress: Progress;
  /** The port to listen on; the last run's or any free one unless told. */
  port?: number | undefined;
}

export interface RunningTemporal {
  /** What the SDK connects to: `TEMPORAL_ADDRESS` as it was given, or loopback. */
  address: string;
  /** `undefined` for a Temporal given by `TEMPORAL_ADDRESS`. */
  pid: number | undefined;
  /** Resolves when the server has ended, asked or not; never for a given one. */
  ended: Promise<void>;
  /** Ends a server started here and waits for its end; leaves a given one alone. */
  stop(): Promise<void>;
  /** Ends a server started here at once, as a crash would. */
  kill(): Promise<void>;
}

/** What is remembered of a running server, for the next start after a `kill -9`. */
interface RunningRecord {
  pid: number;
  port: number;
}

const START_MILLISECONDS = 60_000;
const GRACE_MILLISECONDS = 20_000;
const POLL_MILLISECONDS = 50;
const PORT_MILLISECONDS = 5_000;
const NAMESPACE = "default";

/**
 * Finds a Temporal or starts one: `TEMPORAL_ADDRESS`; else the program `TEMPORAL_CLI` names, one on the
 * machine, or the official one, fetched. Throws {@link StackError} with one sentence for a person.
 */
export async function startTemporal(options: StartTemporal): Promise<RunningTemporal> {
  const given = options.env.TEMPORAL_ADDRESS;
  if (given) return useGiven(given);
  const { env, progress, cacheDir = cacheFolder(env) } = options;
  const dataDir = resolve(options.dataDir);
  const program = await findTemporal(env, cacheDir, progress);
  const lock = await lockFolder(dataDir);
  try {
    const last = await endPreviousServer(dataDir, progress);
    const port = options.port ?? (await portAfter(last));
    const server = await progress.step("Starting Temporal", () =>
      serve(program, env, dataDir, port),
    );
    const end = (how: (server: ServerProcess) => Promise<void>) => async () => {
      await how(server);
      lock.release();
    };
    return {
      address: `${LOOPBACK}:${port}`,
      pid: server.pid,
      ended: server.ended,
      stop: end((running) => running.stop(GRACE_MILLISECONDS)),
      kill: end((running) => running.kill()),
    };
  } catch (error) {
    lock.release();
    throw stackErrorFromFile(error, dataDir);
  }
}

/**
 * The last run's port, so that clients which still try it come back; a moment is given to the connections
 * that a kill left half open. Any free one, when another program has taken it.
 */
async function portAfter(last: number | undefined): Promise<number> {
  if (last === undefined) return findFreePort();
  const deadline = performance.now() + PORT_MILLISECONDS;
  while (performance.now() < deadline) {
    if (await isPortFree(last)) return last;
    await wait(POLL_MILLISECONDS);
  }
  return findFreePort();
}

function useGiven(address: string): RunningTemporal {
  const nothing = () => Promise.resolve();
  return { address, pid: undefined, ended: new Promise(nothing), stop: nothing, kill: nothing };
}

async function lockFolder(dataDir: string) {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const lock = tryLock(join(dataDir, "lock"));
    if (lock) return lock;
  } catch (error) {
    throw stackErrorFromFile(error, dataDir);
  }
  throw new StackError(
    `${dataDir} is in use by another copy of this program: stop that one, or name another data folder.`,
  );
}

/**
 * Every commit is synced, so that neither a kill nor a loss of power loses what was acknowledged: SQLite's
 * write-ahead log with `synchronous=full`.
 */
function serverArguments(stateFile: string, port: number): string[] {
  return [
    ...["server", "start-dev", "--headless", "--ip", LOOPBACK, "--port", String(port)],
    ...["--db-filename", stateFile, "--namespace", NAMESPACE, "--log-level", "error"],
    ...["--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=full"],
    ...["--dynamic-config-value", "system.enableEagerWorkflowStart=true"],
    // Accounts' retries take turns, by the fairness key of their workflows.
    ...["--dynamic-config-value", "matching.enableFairness=true"],
    // A task that several killed workers held in turn would wait minutes for the next one.
    ...["--dynamic-config-value", 'history.workflowTaskRetryMaxInterval="5s"'],
  ];
}

async function serve(
  program: string,
  env: NodeJS.ProcessEnv,
  dataDir: string,
  port: number,
): Promise<ServerProcess> {
  const logFile = join(dataDir, "server.log");
  const server = await spawnServer({
    command: program,
    args: serverArguments(stateFileIn(dataDir), port),
    env,
    logFile,
  });
  const record: RunningRecord = { pid: server.pid, port };
  await writeFile(recordFileIn(dataDir), `${JSON.stringify(record)}\n`);
  const deadline = performance.now() + START_MILLISECONDS;
  while (!server.hasEnded() && performance.now() < deadline) {
    if (await isServing(`${LOOPBACK}:${port}`)) return server;
    await wait(POLL_MILLISECONDS);
  }
  await server.kill();
  const lines = (await readFile(logFile, "utf8")).trim().split("\n");
  throw new StackError(
    `Temporal did not start: ${redactText(lines.at(-1) ?? "").slice(0, 300) || "it gives no reason"} (its log: ${logFile}).`,
  );
}

/** It serves once it knows its namespace, which is later than it listens. */
async function isServing(address: string): Promise<boolean> {
  try {
    const connection = await Connection.connect({ address, connectTimeout: 1_000 });
    try {
      await connection.workflowService.describeNamespace({ namespace: NAMESPACE });
      return true;
    } finally {
      await connection.close();
    }
  } catch {
    return false;
  }
}

/** Ends the server that a killed run left, recognized by its state file, and returns its port. */
async function endPreviousServer(dataDir: string, progress: Progress): Promise<number | undefined> {
  const text = await readFile(recordFileIn(dataDir), "utf8").catch(() => "");
  const record = parseRecord(text);
  if (record === undefined) return undefined;
  const commandLine = (await isRunning(record.pid)) ? await readCommandLine(record.pid) : "";
  if (commandLine.includes(` ${stateFileIn(dataDir)} `)) {
    await progress.step("Ending the Temporal of the last run", () =>
      endProcess(record.pid, GRACE_MILLISECONDS),
    );
  }
  await rm(recordFileIn(dataDir), { force: true });
  return record.port;
}

const stateFileIn = (dataDir: string) => join(dataDir, "state.sqlite");
const recordFileIn = (dataDir: string) => join(dataDir, "running.json");

function parseRecord(text: string): RunningRecord | undefined {
  try {
    const { pid, port }: Partial<RunningRecord> = JSON.parse(text);
    return Number.isSafeInteger(pid) && Number.isSafeInteger(port)
      ? (JSON.parse(text) as RunningRecord) // its fields were just checked
      : undefined;
  } catch {
    return undefined;
  }
}
