import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { atFirstSignal } from "@activity/runtime/end-at-signal";
import { ConfigError } from "@activity/runtime/environment";
import { createLog } from "@activity/runtime/log";
import { openOutput } from "@activity/runtime/process-output";
import { redactText } from "@activity/runtime/redaction";
import { MigrationError, readConfig } from "@activity/server";
import { readDeliveryConfig } from "@activity/workflows";
import { createDashboardLink } from "../../tools/demo/dashboard-link.ts";
import { createClients, type DemoSettings, ensureDemo } from "../../tools/demo/demo-account.ts";
import { ensureDemoEndpoint } from "../../tools/demo/demo-endpoint.ts";
import { type DemoReceiver, startDemoReceiver } from "../../tools/demo/demo-receiver.ts";
import { startProduct } from "../../tools/serve/product.ts";
import { buildDashboard } from "./build-dashboard.ts";
import { startDatabase } from "./database.ts";
import { findFreePort } from "./free-port.ts";
import { checkGivenRedis } from "./given-redis.ts";
import { failToListen } from "./listen-error.ts";
import { localAddress, localOrigin } from "./local-address.ts";
import { startRenewal } from "./local-credential.ts";
import { type LocalSettings, readLocalSettings, writeLocalSettings } from "./local-settings.ts";
import { openLogFile } from "./log-file.ts";
import { startOverlayHub } from "./overlay-hub.ts";
import { createProgress } from "./progress.ts";
import { readStackConfig } from "./stack-config.ts";
import { StackError, stackErrorFromFile } from "./stack-error.ts";
import { type RunningTemporal, type StartTemporal, startTemporal } from "./temporal.ts";
import { welcome } from "./welcome.ts";

/** How long the process may live after everything was stopped. */
const EXIT_WITHIN_MS = 1_000;

// A full disk or a closed pipe must not end the product.
openOutput(process.stderr);
openOutput(process.stdout);

/** Runs the whole product on this machine until Ctrl-C. Leaves nothing running. */
async function start(): Promise<void> {
  // The functions that stop the started parts. In every case they run in reverse order.
  const running: (() => void | Promise<void>)[] = [];
  try {
    await startAll((stop) => running.push(stop));
  } finally {
    for (const stop of running.toReversed()) await stop();
  }
}

async function startAll(stopLater: (stop: () => void | Promise<void>) => void): Promise<void> {
  const { env } = process;
  const config = readStackConfig(env);
  const dataDir = resolve(config.dataDir);
  const progress = createProgress();
  const database = await startDatabase({ env, dataDir: join(dataDir, "database"), progress });
  stopLater(database.stop);
  const temporal = await startIfPossible({ env, dataDir: join(dataDir, "temporal"), progress });
  if (temporal !== undefined) stopLater(temporal.stop);
  await mkdir(dataDir, { recursive: true }).catch((error) => {
    throw stackErrorFromFile(error, dataDir);
  });
  const settingsFile = join(dataDir, "local.json");
  const save = (settings: LocalSettings) => writeLocalSettings(settingsFile, settings);
  const settings = await readLocalSettings(settingsFile);
  // Saves the keys at once, because data that they sign or encrypt outlives this process.
  await save(settings);
  // With the stored signing secret, the receiver accepts waiting events as soon as the product runs.
  let secret = settings.receiver?.secret;
  const receiver = await startDemoReceiver(settings.receiver?.port, async () => secret);
  stopLater(receiver.stop);
  const hasPage = env.DASHBOARD_FILES ? true : await buildDashboard(progress);
  const dashboardPort = config.dashboardPort || (await findFreePort());
  const { host, port } = config.gateway;
  const targets = {
    WEBHOOK_ALLOWED_TARGETS: [env.WEBHOOK_ALLOWED_TARGETS, receiver.target].filter(Boolean).join(),
    ALLOW_UNSAFE_TARGETS: "development",
  };
  const core = readConfig({
    ...(!env.CURSOR_KEYS_FILE && { CURSOR_KEYS: settings.cursorKey }),
    ...(!env.SECRET_KEYS_FILE && { SECRET_KEYS: settings.secretKey }),
    DASHBOARD_URL: localOrigin(dashboardPort),
    // The address of the read API for clients; empty while the system chooses the port.
    DASHBOARD_API_URL: port === 0 ? "" : `http://${localAddress(host, port)}/api/v1`,
    ...withoutEmpty(env),
    ...targets,
    DASHBOARD_PORT: `${dashboardPort}`,
    DATABASE_URL: database.url,
    DATABASE_URL_FILE: undefined,
    CORE_PORT: `${config.corePort}`,
  });
  if (core.redisUrl !== undefined) {
    await checkGivenRedis(core.redisUrl, env.REDIS_URL ? "REDIS_URL" : "REDIS_URL_FILE");
  }
  const { connection, extraCa, ...ofDeliveries } = readDeliveryConfig({
    ...(temporal?.pid === undefined ? env : withoutGivenTemporal(env)),
    ...{ ...targets, TEMPORAL_ADDRESS: temporal?.address },
  });
  const deliveries = {
    ...ofDeliveries,
    connection: temporal && connection,
    extraCa: [extraCa, receiver.certificate].filter(Boolean).join("\n"),
  };
  const logFile = openLogFile(join(config.dataDir, "product.log"));
  stopLater(logFile.close);
  const log = createLog(logFile.write);
  // From here Ctrl-C stops everything in order. Before this line, Ctrl-C ends this process first, and the servers after
  // it.
  const stopped = stopSignal(database.ended);
  const product = await progress.step("Starting the product", () =>
    startProduct({ core, gateway: config.gateway, deliveries, log }).catch(failToListen),
  );
  stopLater(product.stop);
  const at = {
    gateway: localAddress(host, product.gatewayPort),
    core: localAddress(core.host, product.corePort),
  };
  const demo = {
    databaseUrl: database.url,
    coreUrl: `http://${at.core}`,
    settings,
    save,
    progress,
  };
  // An interrupted set-up fails by itself, and the next start continues it.
  const local = await Promise.race([stopped, setUpDemo(demo, receiver)]);
  if (local === undefined) return;
  secret = local.receiver?.secret;
  stopLater(startRenewal(database.url, local.serviceCredential, log));
  const clients = createClients(local.coreUrl, local.serviceCredential);
  const { accountId, apiKey } = local.demo;
  const dashboard = hasPage ? await createDashboardLink(clients, accountId) : undefined;
  const hub = await startOverlayHub({ apiKey, gateway: at.gateway, dataDir });
  stopLater(hub.close);
  const overlay = hub.overlayUrl;
  process.stdout.write(welcome({ ...at, dashboard, overlay, logPath: logFile.path }, apiKey));
  await stopped;
}

/** Creates the demo account and its endpoint if they are missing. */
async function setUpDemo(
  options: Parameters<typeof ensureDemo>[0],
  receiver: DemoReceiver,
): Promise<DemoSettings> {
  const local = await ensureDemoEndpoint(await ensureDemo(options), receiver);
  await options.save(local);
  return local;
}

/** Starts a Temporal. Returns `undefined` if it finds none. Then only retries wait, until a start that finds one. */
async function startIfPossible(options: StartTemporal): Promise<RunningTemporal | undefined> {
  try {
    return await startTemporal(options);
  } catch (error) {
    if (!(error instanceof StackError)) throw error;
    process.stderr.write(`Deliveries that fail wait to be retried: ${error.message}\n`);
    return undefined;
  }
}

/** Leaves out the settings of another Temporal. The one started here has only the namespace `default`, and no TLS. */
function withoutGivenTemporal(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const ofGiven = /^TEMPORAL_(NAMESPACE|API_KEY|TLS)/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ofGiven.test(name)));
}

/** Leaves out empty variables. They count as unset, so they must not replace a default. */
function withoutEmpty(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
}

/** Resolves at Ctrl-C or SIGTERM. Rejects if the database ends by itself. */
function stopSignal(databaseEnded: Promise<void>): Promise<undefined> {
  const { promise, resolve: stop, reject } = Promise.withResolvers<undefined>();
  atFirstSignal(() => stop(undefined));
  databaseEnded.then(() =>
    reject(
      new StackError(
        "The database server ended by itself: see database/server.log in the data folder, then start again.",
      ),
    ),
  );
  // Prevents an unhandled rejection. The first `await` still gets the failure.
  promise.catch(() => undefined);
  return promise;
}

try {
  await start();
} catch (error) {
  const isForPeople =
    error instanceof StackError || error instanceof ConfigError || error instanceof MigrationError;
  process.stderr.write(
    `${isForPeople ? error.message : redactText((error as Error).stack ?? `${error}`)}\n`,
  );
  process.exitCode = 1;
}
// Exits, because a pending connection to a given Temporal cannot be cancelled and would keep the process alive.
setTimeout(() => process.exit(), EXIT_WITHIN_MS).unref();
