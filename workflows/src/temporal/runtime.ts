import type { Log } from "@activity/runtime/log";
import type { MetricsAddress } from "@activity/runtime/metrics";
import {
  DefaultLogger,
  IllegalStateError,
  makeTelemetryFilterString,
  Runtime,
} from "@temporalio/worker";

/** "Workflow task duration exceeded 5 seconds": an attempt beside its workflow may take ten. */
const EXPECTED = "[TMPRL1104]";

/**
 * Sends what the SDK says of failures to the product's log, without its details: an error's message can
 * hold what was asked for. Its metrics it serves by itself, at the port after the product's own where that has one.
 * The SDK has one runtime in a process at a time: one that runs stays as its caller wanted it. Signals stay the
 * process's own: the SDK would take four of them for itself before anything is ready to be stopped.
 */
export function installTemporalRuntime(log: Log, served: MetricsAddress | undefined): void {
  const logger = new DefaultLogger("WARN", ({ level, message }) => {
    if (message.startsWith(EXPECTED)) return;
    const write = level === "ERROR" ? log.error : log.warn;
    write("temporal", { message });
  });
  // What the SDK's native part says comes the same way, instead of on the terminal.
  const filter = makeTelemetryFilterString({ core: "WARN", other: "ERROR" });
  const telemetryOptions = {
    logging: { filter, forward: {} },
    ...(served && { metrics: { prometheus: prometheusAt(served) } }),
  };
  try {
    Runtime.install({ logger, telemetryOptions, shutdownSignals: [] });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}

/** Names as Prometheus' conventions have them. */
function prometheusAt({ host, port }: MetricsAddress) {
  const bracketed = host.includes(":") ? `[${host}]` : host;
  return {
    bindAddress: `${bracketed}:${port + 1}`,
    countersTotalSuffix: true,
    unitSuffix: true,
    useSecondsForDurations: true,
  };
}
