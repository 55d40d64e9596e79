import {
  type Health,
  HealthCheckResponse_ServingStatus as Status,
} from "@activity/proto/infrastructure";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { withDeadline } from "./database/deadline.ts";
import type { Pool } from "./database/pool.ts";

const DEADLINE_MS = 1_000;
const WATCH_INTERVAL_MS = 5_000;

/**
 * Answers health checks as the gRPC health protocol defines them: serving while the database answers, for
 * the whole server (the empty name) and for each of the `services`.
 */
export function createHealthService(
  pool: Pool,
  services: ReadonlySet<string>,
): ServiceImpl<typeof Health> {
  async function readStatus() {
    try {
      await withDeadline(pool, DEADLINE_MS, (connection, answer) =>
        connection.query("SELECT 1", answer),
      );
      return Status.SERVING;
    } catch {
      return Status.NOT_SERVING;
    }
  }
  const isKnown = (service: string) => service === "" || services.has(service);

  return {
    async check({ service }) {
      if (!isKnown(service)) throw new ConnectError("unknown service", Code.NotFound);
      return { status: await readStatus() };
    },
    async list() {
      const status = await readStatus();
      const names = ["", ...services];
      return { statuses: Object.fromEntries(names.map((name) => [name, { status }])) };
    },
    async *watch({ service }, { signal }) {
      let last: Status | undefined;
      while (!signal.aborted) {
        const status = isKnown(service) ? await readStatus() : Status.SERVICE_UNKNOWN;
        if (status !== last) yield { status };
        last = status;
        await pause(WATCH_INTERVAL_MS, signal);
      }
    },
  };
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
