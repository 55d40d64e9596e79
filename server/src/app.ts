import type { Log } from "@activity/runtime/log";
import { type Metrics, NO_METRICS } from "@activity/runtime/metrics";
import { PROCESS_TIMING } from "@activity/runtime/timing";
import type { Transport } from "@connectrpc/connect";
import { startAccountPurge } from "./account-deletion/account-purge.ts";
import { createFindApiKey } from "./admission/api-key-lookup-store.ts";
import { checkCountedRequests } from "./admission/counted-requests.ts";
import { createDatabaseAdmission } from "./admission/database-admission.ts";
import { countDecisions } from "./admission/decisions.ts";
import { startIdleWindowRemoval } from "./admission/idle-windows.ts";
import { startKeyUses } from "./admission/key-uses.ts";
import { createRedisAdmission } from "./admission/redis-admission.ts";
import { limitWideNetworks } from "./admission/wide-networks.ts";
import { createAuthenticateBrowser } from "./browser/authenticate-browser.ts";
import { listenToBrowsers } from "./browser/listen-to-browsers.ts";
import { wallClockMs } from "./common/clock.ts";
import { createOutageLog } from "./common/outage-log.ts";
import type { ServerConfig } from "./config.ts";
import { createPackets } from "./database/packet.ts";
import { createPool } from "./database/pool.ts";
import { measurePools, poolUse } from "./database/pool-use.ts";
import { traceStatements } from "./database/statement-spans.ts";
import { startDeliveryRemoval } from "./delivery/delivery-removal.ts";
import { startAttemptCounting } from "./delivery-stat/delivery-stat.ts";
import { measureBacklog } from "./dispatch/backlog.ts";
import { startOrphanedRuns } from "./dispatch/orphaned-runs.ts";
import { createOutbox } from "./dispatch/outbox.ts";
import { createSqlDispatchStore } from "./dispatch/sql-dispatch-store.ts";
import { createFeedChanges } from "./feed-change/feed-changes.ts";
import { startNoticeSweep } from "./notice/notice-sweep.ts";
import { createAccountScope } from "./rpc/account-scope.ts";
import { createAuditLog } from "./rpc/audit-log.ts";
import { authenticateAgain, authenticateEach, createAuthenticate } from "./rpc/authenticate.ts";
import { createCallSpans } from "./rpc/call-spans.ts";
import { createConnections } from "./rpc/connections.ts";
import { createErrorMapping } from "./rpc/error-mapping.ts";
import { type Listener, listen } from "./rpc/listener.ts";
import { createLocalTransport } from "./rpc/local-transport.ts";
import { createRateLimitHeaders } from "./rpc/rate-limit-headers.ts";
import { type CoreReadiness, createReadiness } from "./rpc/readiness.ts";
import { createFindService } from "./rpc/registered-service.ts";
import { createRequestGate } from "./rpc/request-gate.ts";
import { createRequestLog } from "./rpc/request-log.ts";
import { createValidate } from "./rpc/validate.ts";
import { createWireHandler } from "./rpc/wire-handler.ts";
import { createServiceCredentials } from "./service-credential/service-credentials.ts";
import { createServices } from "./services.ts";
import { startSessionRemoval } from "./session/session-removal.ts";
import { createSessions } from "./session/sessions.ts";
import { createWriter } from "./write/writer.ts";

const ADMISSION_DEADLINE_MS = 3_000;
/**
 * The longest time of a write's transaction: longer than three waits for a lock. Without a deadline, a connection would
 * block for 15 minutes after its other end is gone.
 */
const WRITE_DEADLINE_MS = 30_000;
/** Connections for writes that commit alone. Writes that share a commit have another connection. */
const WRITE_CONNECTIONS = 4;
/** Connections for writes whose account is locked. Each connection waits for one account at a time. */
const LEFT_OUT_CONNECTIONS = 2;
/** Connections that only record attempts, so that writes waiting for an account do not delay them. */
const RECORD_CONNECTIONS = 2;
/**
 * The longest time of a transaction that records attempts. A recorder waits four seconds for an answer. With this
 * shorter deadline it can repeat the call while the leases of its attempts last.
 */
const RECORD_DEADLINE_MS = 3_000;

/** The assembled core. It opens no port before `listen`. */
export type ServerApp = {
  /** Calls the services from inside this process, for a gateway in the same process. */
  readonly localTransport: Transport;
  /** Opens the configured port. */
  listen(): Promise<Listener>;
  /** Opens the port for browsers, if one is configured. */
  listenToBrowsers(): Promise<Listener | undefined>;
  /** Reads whether the core is ready: the database answers, and `drain` was not called. */
  readState(): Promise<CoreReadiness>;
  /** Continues to serve, but reports that it is not ready. Each connection closes after its next answer. */
  drain(): void;
  /** Closes every connection to the database and the limiter. */
  close(): Promise<void>;
};

/** Creates the core from its parts. `services.ts` creates the services. */
export function createServerApp(
  config: ServerConfig,
  log: Log,
  metrics: Metrics = NO_METRICS,
): ServerApp {
  const { nowMs } = PROCESS_TIMING;
  traceStatements();
  const pool = createPool(config.databaseUrl, config.databaseConnections);
  const keyUses = startKeyUses(pool, log);
  const createCounting = () => createPackets(config.databaseUrl, 1, ADMISSION_DEADLINE_MS);
  const counted = config.redisUrl
    ? createRedisAdmission(config.redisUrl, pool, keyUses, nowMs)
    : createDatabaseAdmission(createCounting(), keyUses, nowMs);
  const admission = countDecisions(
    checkCountedRequests(limitWideNetworks(counted, nowMs), createFindApiKey(pool, nowMs)),
    metrics,
  );
  const outbox = createOutbox(PROCESS_TIMING);
  const feedChanges = createFeedChanges(pool, log, nowMs);
  const recording = createPackets(config.databaseUrl, RECORD_CONNECTIONS, RECORD_DEADLINE_MS);
  const dispatchStore = createSqlDispatchStore(pool, recording);
  const stopJobs = [
    keyUses.stop,
    feedChanges.close,
    startIdleWindowRemoval(pool, log),
    startAccountPurge(pool, log),
    startOrphanedRuns(dispatchStore, outbox.retries.notify, log),
    startSessionRemoval(pool, log),
    startDeliveryRemoval(pool, config.deliveryRetentionDays, log),
    startAttemptCounting(pool, log),
    startNoticeSweep(pool, config.deliveryRetentionDays, log),
  ];
  if (config.allowedTargets.size > 0) {
    log.warn("endpoints on this machine are allowed: for development and tests only");
  }
  const together = createPackets(config.databaseUrl, 1, WRITE_DEADLINE_MS);
  const alone = createPackets(config.databaseUrl, WRITE_CONNECTIONS, WRITE_DEADLINE_MS);
  const leftOut = createPackets(config.databaseUrl, LEFT_OUT_CONNECTIONS, WRITE_DEADLINE_MS);
  const writer = createWriter({ together, alone, leftOut }, outbox, feedChanges);
  const use = {
    reads: () => [poolUse(pool.pool)],
    writes: () => [together.use(), alone.use(), leftOut.use()],
    records: () => [recording.use()],
  };
  measurePools(metrics, use);
  measureBacklog(metrics, pool);
  const readiness = createReadiness(pool, nowMs);
  const parts = { pool, readiness, alone, dispatchStore, writer, outbox, feedChanges, metrics };
  const services = createServices(parts, config, log);
  const findService = createFindService(services);
  // The first interceptor is the outermost.
  const outer = [
    createCallSpans(),
    createRequestLog(log, metrics, nowMs),
    createAuditLog(log, wallClockMs, findService),
    createRateLimitHeaders(),
    createErrorMapping(log),
  ];
  const credentials = createServiceCredentials(pool, nowMs);
  const logOutage = createOutageLog(log);
  const authenticate = createAuthenticate(admission, credentials, findService, logOutage);
  // These run after authentication. Over a wire, authentication runs before the message is read.
  const inner = [createAccountScope(), createValidate(findService)];

  const listeners: Listener[] = [];
  const opened = (listener: Listener): Listener => {
    listeners.push(listener);
    return {
      ...listener,
      close() {
        // Ends all watches: a closing listener waits for its calls, and a watch does not end by itself.
        readiness.stop();
        feedChanges.close();
        return listener.close();
      },
    };
  };

  return {
    localTransport: createLocalTransport(services, [
      ...outer,
      authenticateEach(authenticate),
      ...inner,
    ]),
    async listen() {
      // Waits for the limiter, because it would look unavailable while it is still connecting.
      await admission.ready;
      const connections = createConnections();
      const handler = createWireHandler(services, connections, {
        gate: createRequestGate(authenticate, outer),
        interceptors: [...outer, authenticateAgain(authenticate), ...inner],
      });
      return opened(await listen(handler, connections, config));
    },
    async listenToBrowsers() {
      const { dashboard } = config;
      if (dashboard?.port === undefined) return undefined;
      const authenticateBrowser = createAuthenticateBrowser(
        admission,
        createSessions(pool),
        findService,
        logOutage,
        dashboard,
      );
      const options = {
        gate: createRequestGate(authenticateBrowser, outer),
        interceptors: [...outer, authenticateAgain(authenticateBrowser), ...inner],
      };
      const address = { ...dashboard, port: dashboard.port };
      return opened(await listenToBrowsers(address, services, options, log));
    },
    readState: readiness.read,
    drain() {
      readiness.drain();
      feedChanges.end();
      for (const listener of listeners) listener.drain();
    },
    async close() {
      for (const stop of stopJobs) stop();
      const packets = [admission, together, alone, leftOut, recording];
      // Ignores rejections: closing a connection that was never established rejects, but there is nothing to close.
      await Promise.allSettled([pool.end(), ...packets.map((each) => each.close())]);
    },
  };
}
