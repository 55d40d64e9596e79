import { ConfigError, readProcessConfig } from "./config.ts";
import { createCoreTransport } from "./core-transport.ts";
import { createLog } from "./log.ts";
import { startDeliveries } from "./start-deliveries.ts";

/** What is left to a process in which nothing runs any more. */
const EXIT_WITHIN_MS = 1_000;

/** Runs the dispatcher and the worker as a process of their own, against a core elsewhere, until told to stop. */
try {
  const config = readProcessConfig(process.env);
  const core = createCoreTransport(config.core);
  const log = createLog((line) => process.stdout.write(line));
  const deliveries = startDeliveries({ config: config.delivery, core: core.transport, log });
  const stop = async () => {
    await deliveries.stop();
    core.close();
    // A connection to Temporal that is still being tried cannot be taken back, and would hold the process.
    setTimeout(() => process.exit(), EXIT_WITHIN_MS).unref();
  };
  process.once("SIGINT", () => void stop());
  process.once("SIGTERM", () => void stop());
} catch (error) {
  process.stderr.write(error instanceof ConfigError ? `${error.message}\n` : `${error}\n`);
  process.exitCode = 1;
}
