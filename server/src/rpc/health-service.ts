import {
  type Health,
  HealthCheckResponse_ServingStatus as Status,
} from "@activity/proto/infrastructure";
import { PROCESS_TIMING, wait } from "@activity/runtime/timing";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import type { Readiness } from "./readiness.ts";

const WATCH_INTERVAL_MS = 5_000;

/**
 * Answers health checks by the gRPC health protocol, for the whole server (the empty name) and for each of `services`.
 * When the core begins to drain, each watch gets the status at once and ends. A watch that begins later ends when the
 * core stops. If it ended at once, its client would repeat it without a pause.
 */
export function createHealthService(
  readiness: Readiness,
  services: ReadonlySet<string>,
): ServiceImpl<typeof Health> {
  const { draining, stopping } = readiness;
  const isKnown = (service: string) => service === "" || services.has(service);

  async function readStatus(): Promise<Status> {
    return (await readiness.read()) === "serving" ? Status.SERVING : Status.NOT_SERVING;
  }

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
      const end = draining.aborted ? stopping : draining;
      const changed = AbortSignal.any([signal, end]);
      let sent: Status | undefined;
      while (!signal.aborted) {
        const isLast = end.aborted;
        const status = isKnown(service) ? await readStatus() : Status.SERVICE_UNKNOWN;
        if (status !== sent) yield { status };
        sent = status;
        if (isLast) return;
        await wait(PROCESS_TIMING, WATCH_INTERVAL_MS, changed);
      }
    },
  };
}
