import { once } from "node:events";
import { createGateway } from "./app.ts";
import { ConfigError, readConfig } from "./config.ts";
import { startCoreCheck } from "./core-check.ts";
import { createHealthServer } from "./health-server.ts";
import { createLog } from "./log.ts";
import { createCoreTransport } from "./upstream.ts";

const log = createLog((line) => process.stderr.write(line));

try {
  const config = readConfig(process.env);
  const core = createCoreTransport(config);
  const { trustedProxies } = config;
  const gateway = createGateway({ upstream: core.transport, trustedProxies, log });
  const { port } = await gateway.listen(config.port, config.host);
  log.info("gateway listens", { host: config.host, port });
  const check = startCoreCheck(core.transport, log);
  const health = createHealthServer(check.state);
  if (config.healthPort !== undefined) {
    await once(health.listen(config.healthPort, config.host), "listening");
  }
  const stop = async () => {
    check.stop();
    health.close();
    await gateway.close();
    core.close();
  };
  process.once("SIGINT", () => void stop());
  process.once("SIGTERM", () => void stop());
} catch (error) {
  const isKnown = error instanceof ConfigError || (error instanceof Error && "code" in error);
  process.stderr.write(isKnown ? `${error.message}\n` : `${error}\n`);
  // What listens already would hold the process.
  process.exit(1);
}
