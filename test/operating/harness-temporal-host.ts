import { Connection } from "@temporalio/client";
import { LOOPBACK } from "../../dev-stack/src/free-port.ts";
import { createServerHost, type ServerHost } from "../harness/server-host.ts";

/** The services of Temporal's server, in their start order. */
export const TEMPORAL_SERVICES = ["history", "matching", "frontend", "worker"] as const;
type TemporalService = (typeof TEMPORAL_SERVICES)[number];

/** One service of a cluster in its own process. */
export interface TemporalHost extends ServerHost {
  service: TemporalService;
  port: number;
}

const ANSWER_MILLISECONDS = 1_000;
/** `SERVING` of grpc.health.v1. */
const SERVING = 1;
const NO_PINGS = { "grpc.keepalive_permit_without_calls": 0 };
/** The name of each service in its health check. */
const HEALTH_NAMES: Readonly<Record<TemporalService, string>> = {
  ...{ frontend: "WorkflowService", history: "HistoryService" },
  ...{ matching: "MatchingService", worker: "WorkerService" },
};

/**
 * Creates a host. The caller starts it. `variables` are those of Temporal's configuration template, which its image
 * also uses.
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

/** Checks health as a load balancer or a kubelet does. */
async function isServing(service: TemporalService, port: number): Promise<boolean> {
  const address = `${LOOPBACK}:${port}`;
  // Only frontends accept pings without a call. The others refuse them, and the library prints that on stderr.
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
