import { Connection } from "@temporalio/client";
import { LOOPBACK } from "../../dev-stack/src/free-port.ts";
import { createServerHost, type ServerHost } from "../harness/server-host.ts";

/** The services of Temporal's server, in the order in which they are started. */
export const TEMPORAL_SERVICES = ["history", "matching", "frontend", "worker"] as const;
export type TemporalService = (typeof TEMPORAL_SERVICES)[number];

/** One service of a cluster in a process of its own. */
export interface TemporalHost extends ServerHost {
  service: TemporalService;
  port: number;
}

const ANSWER_MILLISECONDS = 1_000;
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

/**
 * Makes a host, which is the caller's to start. `variables` are what Temporal's own configuration template reads,
 * which is that of its image too.
 */
export function createTemporalHost(
  service: TemporalService,
  program: string,
  ports: { grpc: number; membership: number },
  variables: Readonly<Record<string, string>>,
  logFile: string,
): TemporalHost {
  const prefix = service.toUpperCase();
  const host = createServerHost({
    ...{ title: `Temporal's ${service} service`, launch: { command: program, leading: [] } },
    args: ["--allow-no-auth", "start", "--service", service],
    env: {
      ...variables,
      [`${prefix}_GRPC_PORT`]: `${ports.grpc}`,
      [`${prefix}_MEMBERSHIP_PORT`]: `${ports.membership}`,
    },
    ...{ logFile, isReady: () => isServing(service, ports.grpc) },
  });
  return { ...host, service, port: ports.grpc };
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
