import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createLog, MigrationError, readConfig } from "@activity/server";
import { startDatabase } from "./database.ts";
import { ensureDemo } from "./demo.ts";
import { failToListen } from "./listen-error.ts";
import { readLocalSettings, writeLocalSettings } from "./local-settings.ts";
import { openLogFile } from "./log-file.ts";
import { startProduct } from "./product.ts";
import { createProgress } from "./progress.ts";
import { readStackConfig, StackConfigError } from "./stack-config.ts";
import { StackError } from "./stack-error.ts";
import { welcome } from "./welcome.ts";

/** Runs the whole product on this machine until Ctrl-C, and leaves nothing running behind. */
async function start(): Promise<void> {
  const config = readStackConfig(process.env);
  const dataDir = resolve(config.dataDir);
  const progress = createProgress();
  const database = await startDatabase({
    env: process.env,
    dataDir: join(dataDir, "database"),
    progress,
  });
  try {
    await mkdir(dataDir, { recursive: true });
    const settingsFile = join(dataDir, "local.json");
    const settings = await readLocalSettings(settingsFile);
    const core = readConfig({
      CURSOR_KEYS: settings.cursorKey,
      ...process.env,
      DATABASE_URL: database.url,
      CORE_PORT: `${config.corePort}`,
    });
    const logFile = openLogFile(join(config.dataDir, "product.log"));
    const product = await progress.step("Starting the product", () =>
      startProduct({ core, gateway: config.gateway, log: createLog(logFile.write) }).catch(
        failToListen,
      ),
    );
    const local = await ensureDemo({
      databaseUrl: database.url,
      coreUrl: `http://127.0.0.1:${product.corePort}`,
      settings,
      save: (next) => writeLocalSettings(settingsFile, next),
      progress,
    });
    process.stdout.write(welcome(product, local, logFile.path));
    await stopSignal(database.ended);
    await product.stop();
    logFile.close();
  } finally {
    await database.stop();
  }
}

/** Resolves at Ctrl-C or SIGTERM; rejects when the database ends by itself. */
function stopSignal(databaseEnded: Promise<void>): Promise<void> {
  return new Promise((done, reject) => {
    process.once("SIGINT", done);
    process.once("SIGTERM", done);
    databaseEnded.then(() =>
      reject(new StackError("The database server ended by itself; see its log, then start again.")),
    );
  });
}

try {
  await start();
} catch (error) {
  const isForPeople =
    error instanceof StackError ||
    error instanceof StackConfigError ||
    error instanceof MigrationError ||
    (error instanceof Error && error.name === "ConfigError");
  process.stderr.write(`${isForPeople ? error.message : (error as Error).stack}\n`);
  process.exitCode = 1;
}
