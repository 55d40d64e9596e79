import { DefaultLogger, makeTelemetryFilterString, Runtime } from "@temporalio/worker";
import type { Log } from "../log.ts";

/** "Workflow task duration exceeded 5 seconds": an attempt beside its workflow may take ten. */
const EXPECTED = "[TMPRL1104]";

let installed = false;

/**
 * Sends what the SDK says of failures to the product's log, without its details: an error's message can
 * hold what was asked for. The SDK has one log a process, so the first caller's stays. Signals stay the
 * process's own: the SDK would take four of them for itself before anything is ready to be stopped.
 */
export function installTemporalLog(log: Log): void {
  if (installed) return;
  installed = true;
  const logger = new DefaultLogger("WARN", ({ level, message }) => {
    if (message.startsWith(EXPECTED)) return;
    const write = level === "ERROR" ? log.error : log.warn;
    write("temporal", { message });
  });
  // What the SDK's native part says comes the same way, instead of on the terminal.
  const filter = makeTelemetryFilterString({ core: "WARN", other: "ERROR" });
  const telemetryOptions = { logging: { filter, forward: {} } };
  Runtime.install({ logger, telemetryOptions, shutdownSignals: [] });
}
