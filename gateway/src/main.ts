import { createGateway } from "./app.ts";
import { ConfigError, readConfig } from "./config.ts";
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
  const stop = async () => {
    await gateway.close();
    core.close();
  };
  process.once("SIGINT", () => void stop());
  process.once("SIGTERM", () => void stop());
} catch (error) {
  const isKnown = error instanceof ConfigError || (error instanceof Error && "code" in error);
  process.stderr.write(isKnown ? `${error.message}\n` : `${error}\n`);
  process.exitCode = 1;
}
