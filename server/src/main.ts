import { createServerApp } from "./app.ts";
import { ConfigError, readConfig } from "./config.ts";
import { MigrationError, migrate } from "./database/migrate.ts";
import { createLog } from "./log.ts";
import { createLogWriter } from "./log-writer.ts";

/** Runs the core as a process of its own until it is told to stop. */
async function main(): Promise<void> {
  const writer = createLogWriter((text) => process.stdout.write(text));
  const log = createLog(writer.write);
  const config = readConfig(process.env);
  await migrate(config.databaseUrl);
  const app = createServerApp(config, log);
  const listener = await app.listen();
  log.info("core listens", { host: config.host, port: listener.port });
  const stop = async () => {
    await listener.close();
    await app.close();
    writer.flush();
  };
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
}

try {
  await main();
} catch (error) {
  const isForPeople = error instanceof ConfigError || error instanceof MigrationError;
  process.stderr.write(`${isForPeople ? error.message : `The core could not start: ${error}`}\n`);
  process.exitCode = 1;
}
