import { endAtSignal, exitWhileStarting } from "@activity/runtime/end-at-signal";
import { ConfigError } from "@activity/runtime/environment";
import { messageOf } from "@activity/runtime/error-message";
import { openHealth } from "@activity/runtime/health";
import { createLog } from "@activity/runtime/log";
import { openMetrics } from "@activity/runtime/metrics-listener";
import { openOutput } from "@activity/runtime/process-output";
import { redactText } from "@activity/runtime/redaction";
import { openTraces } from "@activity/runtime/traces-exporter";
import { createServerApp, type ServerApp } from "./app.ts";
import { createLogWriter } from "./common/log-writer.ts";
import { readConfig } from "./config.ts";
import { migrate } from "./database/migrate.ts";
import { MigrationError } from "./database/migration-file.ts";

exitWhileStarting();
openOutput(process.stderr);
const writer = createLogWriter(openOutput(process.stdout));

/** Runs the core as its own process, until a signal ends it. */
async function main(): Promise<void> {
  const log = createLog(writer.write);
  const config = readConfig(process.env);
  // The ports for health and metrics open before the migration, which may take minutes.
  let readState: ServerApp["readState"] | undefined;
  const health = await openHealth(config.health, () => readState?.() ?? "starting", log);
  const scraped = await openMetrics(config.metrics, log);
  const unknown = await migrate(config.databaseUrl, log);
  if (unknown.length > 0) log.warn("the database is newer than this program", { unknown });
  const traces = await openTraces(config.traces, "activity-core", log);
  const app = createServerApp(config, log, scraped.metrics);
  const listener = await app.listen();
  log.info("core listens", { host: config.host, port: listener.port });
  const browsers = await app.listenToBrowsers();
  if (browsers) log.info("dashboard listens", { port: browsers.port });
  readState = app.readState;
  endAtSignal({
    drain: app.drain,
    drainMs: config.drainMs,
    async stop() {
      await Promise.all([browsers?.close(), listener.close()]);
      await app.close();
      scraped.close();
      await traces.close();
      health.close();
      writer.flush();
    },
  });
}

try {
  await main();
} catch (error) {
  writer.flush();
  const isForPeople = error instanceof ConfigError || error instanceof MigrationError;
  process.stderr.write(
    `${isForPeople ? error.message : redactText(`The core could not start: ${messageOf(error)}`)}\n`,
  );
  // Open listeners and connections would keep the process alive.
  process.exit(1);
}
