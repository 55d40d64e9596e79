import { readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { Connection } from "@temporalio/client";
import { LOOPBACK } from "./free-port.ts";
import { type ServerProcess, spawnServer } from "./server-process.ts";
import { StackError } from "./stack-error.ts";

/** The services of Temporal's server, in the order in which they are started. */
export const TEMPORAL_SERVICES = ["history", "matching", "frontend", "worker"] as const;
export type TemporalService = (typeof TEMPORAL_SERVICES)[number];

/** One service of a cluster in a process of its own, at the same ports in all its lives. */
export interface TemporalHost {
  service: TemporalService;
  port: number;
  /** `undefined` while it does not run. */
  pid(): number | undefined;
  isRunning(): boolean;
  /** Resolves once it says that it serves. */
  start(): Promise<void>;
  /** Ends it at once, as a crash would. Throws when it had ended by itself before. */
  kill(): Promise<void>;
}

export interface CreateTemporalHost {
  service: TemporalService;
  program: string;
  /** Where it serves, and where the others of the cluster tell whether it is alive. */
  ports: { grpc: number; membership: number };
  /** What Temporal's own configuration template reads, which is that of its image too. */
  variables: Readonly<Record<string, string>>;
  /** Receives what it says, of all its lives. */
  logFile: string;
}

/** Longer than a dead host of the cluster is believed to live: a new one first asks all of them. */
const START_MILLISECONDS = 120_000;
const ANSWER_MILLISECONDS = 1_000;
const POLL_MILLISECONDS = 100;
/** `SERVING` of grpc.health.v1. */
const SERVING = 1;
const NO_PINGS = { "grpc.keepalive_permit_without_calls": 0 };
/** As each names itself to the health check. */
const HEALTH_NAMES: Readonly<Record<TemporalService, string>> = {
  frontend: "WorkflowService",
  history: "HistoryService",
  matching: "MatchingService",
  worker: "WorkerService",
};

/** Makes a host, which is the caller's to start. */
export function createTemporalHost(options: CreateTemporalHost): TemporalHost {
  const { service, program, ports, variables, logFile } = options;
  const prefix = service.toUpperCase();
  const env = {
    ...variables,
    [`${prefix}_GRPC_PORT`]: `${ports.grpc}`,
    [`${prefix}_MEMBERSHIP_PORT`]: `${ports.membership}`,
  };
  let running: ServerProcess | undefined;

  async function fail(why: string): Promise<never> {
    const log = await readFile(logFile, "utf8");
    throw new StackError(
      `Temporal's ${service} service ${why}; it said: ${log.trimEnd().slice(-1_000)}`,
    );
  }

  return {
    service,
    port: ports.grpc,
    pid: () => running?.pid,
    isRunning: () => running !== undefined && !running.hasEnded(),
    async start() {
      const args = ["--allow-no-auth", "start", "--service", service];
      const started = await spawnServer({ command: program, args, env, logFile });
      running = started;
      const deadline = performance.now() + START_MILLISECONDS;
      while (!(await isServing(service, ports.grpc))) {
        if (started.hasEnded()) await fail("ended");
        if (performance.now() > deadline) await fail("does not serve");
        await wait(POLL_MILLISECONDS);
      }
    },
    async kill() {
      const victim = running;
      running = undefined;
      if (victim?.hasEnded()) await fail("had ended by itself");
      await victim?.kill();
    },
  };
}

/** Asks as a load balancer or a kubelet would. */
async function isServing(service: TemporalService, port: number): Promise<boolean> {
  const address = `${LOOPBACK}:${port}`;
  // Pings that no call waits for are refused by all but the frontends, and the library says so on stderr.
  const connection = Connection.lazy({ address, channelArgs: NO_PINGS });
  const name = `temporal.api.workflowservice.v1.${HEALTH_NAMES[service]}`;
  try {
    const { status } = await connection.withDeadline(Date.now() + ANSWER_MILLISECONDS, () =>
      connection.healthService.check({ service: name }),
    );
    return status === SERVING;
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}
