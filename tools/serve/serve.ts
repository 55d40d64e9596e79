import { endAtSignal, exitWhileStarting } from "@activity/runtime/end-at-signal";
import { ConfigError } from "@activity/runtime/environment";
import { messageOf } from "@activity/runtime/error-message";
import { createLog } from "@activity/runtime/log";
import { openOutput } from "@activity/runtime/process-output";
import { redactText } from "@activity/runtime/redaction";
import { createLogWriter, MigrationError } from "@activity/server";
import { numberOfThis, readProcesses, serveProcesses, tellState } from "./processes.ts";
import { startProduct } from "./product.ts";
import { readServeConfig } from "./serve-config.ts";

exitWhileStarting();
openOutput(process.stderr);
const writer = createLogWriter(openOutput(process.stdout));

/**
 * Runs core, gateway and deliveries in production until a signal. With `--processes N` it runs N processes behind the
 * same ports. Its npm script uses `exec`, so that SIGTERM reaches this process and not a shell.
 */
async function serve(): Promise<void> {
  const processes = readProcesses(process.argv.slice(2));
  const config = readServeConfig(process.env);
  const log = createLog(writer.write);
  const processNumber = numberOfThis();
  if (processes > 1 && processNumber === undefined) {
    await serveProcesses(processes, config.core, log, writer);
    return;
  }
  const product = await startProduct({ ...config, log, processNumber });
  if (processNumber !== undefined) void tellState(product.state);
  log.info("core listens", { host: config.core.host, port: product.corePort });
  log.info("gateway listens", { host: config.gateway.host, port: product.gatewayPort });
  if (product.dashboardPort) log.info("dashboard listens", { port: product.dashboardPort });
  endAtSignal({
    drain: product.drain,
    drainMs: config.core.drainMs,
    async stop() {
      await product.stop();
      writer.flush();
    },
  });
}

try {
  await serve();
} catch (error) {
  writer.flush();
  const isForPeople = error instanceof ConfigError || error instanceof MigrationError;
  process.stderr.write(
    `${isForPeople ? error.message : redactText(`The product could not start: ${messageOf(error)}`)}\n`,
  );
  // Exits, because open listeners, or the channel to the first process, would keep this process alive.
  process.exit(1);
}
