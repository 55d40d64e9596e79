import { ConfigError } from "@activity/runtime/environment";
import type { Log } from "@activity/runtime/log";
import type { MetricsAddress } from "@activity/runtime/metrics";
import {
  DefaultLogger,
  IllegalStateError,
  makeTelemetryFilterString,
  Runtime,
  TransportError,
} from "@temporalio/worker";

/**
 * The code of the warning "Workflow task duration exceeded 5 seconds". It is not logged, because a local activity with
 * an attempt may take up to 20 seconds.
 */
const EXPECTED = "[TMPRL1104]";
/** A part of the SDK's error when it cannot listen for its metrics. The error names no port. */
const NO_METRICS_PORT = "prometheus metrics exporter";

/**
 * Sends the SDK's warnings and errors to the product's log, without their details, which can hold a call's input. One
 * detail is logged: why Temporal refuses a worker's polls. The error that then ends the worker does not say this. If
 * `served` is given, the SDK serves its own metrics at the next port.
 *
 * A process has one SDK runtime at a time. If one is installed already, this changes nothing. The SDK is told to handle
 * no signals. By default it would end its workers at four signals, before this process stops them in order. Throws
 * ConfigError if it cannot open the port for the SDK's metrics.
 */
export function installTemporalRuntime(log: Log, served: MetricsAddress | undefined): void {
  const logger = new DefaultLogger("WARN", ({ level, message, meta }) => {
    if (message.startsWith(EXPECTED)) return;
    const write = level === "ERROR" ? log.error : log.warn;
    const error: unknown = meta?.error;
    // The field `message` replaces the text "temporal".
    write("temporal", {
      message,
      reason: error instanceof TransportError ? error.message : undefined,
    });
  });
  // The SDK's native part logs through `logger` too, instead of to the terminal.
  const filter = makeTelemetryFilterString({ core: "WARN", other: "ERROR" });
  const telemetryOptions = {
    logging: { filter, forward: {} },
    ...(served && { metrics: { prometheus: prometheusAt(served) } }),
  };
  try {
    Runtime.install({ logger, telemetryOptions, shutdownSignals: [] });
  } catch (error) {
    if (error instanceof IllegalStateError) return;
    if (served && error instanceof Error && error.message.includes(NO_METRICS_PORT)) {
      throw new ConfigError(
        `METRICS_PORT needs port ${served.port + 1} free too, for the metrics of Temporal's SDK.`,
      );
    }
    throw error;
  }
}

/** Metric names follow Prometheus's conventions. */
function prometheusAt({ host, port }: MetricsAddress) {
  const bracketed = host.includes(":") ? `[${host}]` : host;
  return {
    bindAddress: `${bracketed}:${port + 1}`,
    countersTotalSuffix: true,
    unitSuffix: true,
    useSecondsForDurations: true,
  };
}
