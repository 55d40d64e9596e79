import { endAtSignal, exitWhileStarting } from "@activity/runtime/end-at-signal";
import { ConfigError } from "@activity/runtime/environment";
import { openHealth } from "@activity/runtime/health";
import { createLog } from "@activity/runtime/log";
import { openMetrics } from "@activity/runtime/metrics-listener";
import { openOutput } from "@activity/runtime/process-output";
import { redactText } from "@activity/runtime/redaction";
import { openTraces } from "@activity/runtime/traces-exporter";
import { createGateway } from "./app.ts";
import { readConfig } from "./config.ts";
import { startCoreCheck } from "./core-check.ts";
import { createCoreTransport } from "./upstream.ts";

exitWhileStarting();
const log = createLog(openOutput(process.stderr));

try {
  const config = readConfig(process.env);
  const core = createCoreTransport(config);
  const { trustedProxies } = config;
  const { metrics, close: closeMetrics } = await openMetrics(config.metrics, log);
  const traces = await openTraces(config.traces, "activity-gateway", log);
  const gateway = createGateway({ upstream: core.transport, trustedProxies, log, metrics });
  const { port } = await gateway.listen(config.port, config.host);
  log.info("gateway listens", { host: config.host, port });
  const check = startCoreCheck(core.transport, log, metrics);
  const state = () => (gateway.isDraining() ? "draining" : check.state());
  const health = await openHealth(config.health, state, log);
  endAtSignal({
    drain: gateway.drain,
    drainMs: config.drainMs,
    async stop() {
      check.stop();
      await gateway.close();
      closeMetrics();
      core.close();
      await traces.close();
      health.close();
    },
  });
} catch (error) {
  const isSafe = error instanceof ConfigError || (error instanceof Error && "code" in error);
  process.stderr.write(isSafe ? `${error.message}\n` : `${redactText(`${error}`)}\n`);
  // Exits, because open listeners would keep the process alive.
  process.exit(1);
}
