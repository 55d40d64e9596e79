import { endAtSignal, exitWhileStarting } from "@activity/runtime/end-at-signal";
import { ConfigError } from "@activity/runtime/environment";
import { openHealth } from "@activity/runtime/health";
import { createLog } from "@activity/runtime/log";
import { openMetrics } from "@activity/runtime/metrics-listener";
import { openOutput } from "@activity/runtime/process-output";
import { redactText } from "@activity/runtime/redaction";
import { openTraces } from "@activity/runtime/traces-exporter";
import { readProcessConfig } from "./config.ts";
import { createCoreTransport } from "./core-transport.ts";
import { type RunningDeliveries, startDeliveries } from "./start-deliveries.ts";

exitWhileStarting();
openOutput(process.stderr);
/** Runs the dispatcher and the worker in their own process, against a core in another one, until a signal ends it. */
try {
  const config = readProcessConfig(process.env);
  const core = createCoreTransport(config.core);
  const log = createLog(openOutput(process.stdout));
  const scraped = await openMetrics(config.metrics, log);
  const traces = await openTraces(config.traces, "activity-deliveries", log);
  let deliveries: RunningDeliveries | undefined;
  const health = await openHealth(config.health, () => deliveries?.state() ?? "starting", log);
  // This comes before the start of deliveries, so that a signal during their start stops them too.
  endAtSignal({
    drain: () => deliveries?.drain(),
    drainMs: config.drainMs,
    async stop() {
      await deliveries?.stop();
      core.close();
      scraped.close();
      await traces.close();
      health.close();
    },
  });
  deliveries = startDeliveries({
    ...{ config: config.delivery, core: core.transport, log, scraped },
  });
} catch (error) {
  process.stderr.write(
    `${error instanceof ConfigError ? error.message : redactText(`${error}`)}\n`,
  );
  process.exitCode = 1;
}
