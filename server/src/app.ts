import {
  AccountService,
  ActivityService,
  AdmissionService,
  ApiKeyService,
  DeliveryService,
  DispatchService,
  DonationService,
  EndpointService,
  ImportService,
  MeService,
  PlatformEventService,
} from "@activity/proto";
import { Health, reflectionV1, reflectionV1Alpha } from "@activity/proto/infrastructure";
import { createContextValues, type Interceptor, type Transport } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { startAccountPurge } from "./account/account-purge.ts";
import { createAccountService } from "./account/account-service.ts";
import { createMeService } from "./account/me-service.ts";
import { createActivityService } from "./activity/activity-service.ts";
import { createAdmissionService } from "./admission/admission-service.ts";
import { createDatabaseAdmission } from "./admission/database-admission.ts";
import { createAdmissionPool } from "./admission/database-admission-store.ts";
import { startIdleWindowRemoval } from "./admission/idle-windows.ts";
import { createRedisAdmission } from "./admission/redis-admission.ts";
import { createApiKeyService } from "./api-key/api-key-service.ts";
import { peerAddressKey } from "./caller.ts";
import type { ServerConfig } from "./config.ts";
import { type Listener, listen } from "./core-listener.ts";
import { createPool, type Pool } from "./database/pool.ts";
import { startDeliveryRemoval } from "./delivery/delivery-removal.ts";
import { createDeliveryService } from "./delivery/delivery-service.ts";
import { createDispatchService } from "./dispatch/dispatch-service.ts";
import { startOrphanedRuns } from "./dispatch/orphaned-runs.ts";
import { createOutbox, type Outbox } from "./dispatch/outbox.ts";
import { createEndpointService } from "./endpoint/endpoint-service.ts";
import { createHealthService } from "./health-service.ts";
import { createDonationService } from "./ingest/donation-service.ts";
import { createImportService } from "./ingest/import-service.ts";
import { createPlatformEventService } from "./ingest/platform-event-service.ts";
import { createAuthenticate } from "./interceptors/authenticate.ts";
import { createErrorMapping } from "./interceptors/error-mapping.ts";
import { createRateLimitHeaders } from "./interceptors/rate-limit-headers.ts";
import { createRequestLog } from "./interceptors/request-log.ts";
import { createValidate } from "./interceptors/validate.ts";
import { createLocalTransport } from "./local-transport.ts";
import type { Log } from "./log.ts";
import { createReflectionService } from "./reflection-service.ts";
import { addRoutes, type RegisteredService, register } from "./routes.ts";
import { createServiceCredentials } from "./service-credential/service-credentials.ts";

/** The core, put together; it opens no port until it is told to. */
export type ServerApp = {
  /** Calls the services from inside this process, for a gateway that lives in it too. */
  readonly localTransport: Transport;
  /** Opens the port of the configuration. */
  listen(): Promise<Listener>;
  /** Closes every connection to the database and the limiter. */
  close(): Promise<void>;
};

/** Puts the core together: the one place of this package that makes its parts. */
export function createServerApp(config: ServerConfig, log: Log): ServerApp {
  const nowMs = () => performance.now();
  const pool = createPool(config.databaseUrl, config.databaseConnections);
  const admission = config.redisUrl
    ? createRedisAdmission(config.redisUrl, pool, nowMs)
    : createDatabaseAdmission(createAdmissionPool(config.databaseUrl), nowMs);
  const stopRemoval = startIdleWindowRemoval(pool, log);
  const stopAccountPurge = startAccountPurge(pool, log);
  const outbox = createOutbox(() => performance.now());
  const stopOrphanedRuns = startOrphanedRuns(pool, outbox.retries.notify, log);
  const stopDeliveryRemoval = startDeliveryRemoval(pool, config.deliveryRetentionDays, log);
  if (config.allowedTargets.size > 0) {
    log.warn("endpoints on this machine are allowed: for development and tests only");
  }
  const services = createServices(pool, config, outbox, log);
  // The first is the outermost.
  const interceptors: Interceptor[] = [
    createRequestLog(log, nowMs),
    createRateLimitHeaders(),
    createErrorMapping(log),
    createAuthenticate(admission, createServiceCredentials(pool, nowMs)),
    createValidate(),
  ];

  return {
    localTransport: createLocalTransport(services, interceptors),
    listen: () => listen(wireHandler(services, interceptors), config),
    async close() {
      stopRemoval();
      stopAccountPurge();
      stopOrphanedRuns();
      stopDeliveryRemoval();
      await Promise.all([admission.close(), pool.end()]);
    },
  };
}

function createServices(
  pool: Pool,
  config: ServerConfig,
  outbox: Outbox,
  log: Log,
): RegisteredService[] {
  const own = [
    register(ActivityService, createActivityService(pool, config.cursorKeys)),
    register(MeService, createMeService(pool)),
    register(AdmissionService, createAdmissionService()),
    register(DonationService, createDonationService(pool, outbox)),
    register(PlatformEventService, createPlatformEventService(pool)),
    register(ImportService, createImportService(pool)),
    register(AccountService, createAccountService(pool)),
    register(ApiKeyService, createApiKeyService(pool)),
    register(EndpointService, createEndpointService(pool, config, outbox)),
    register(DeliveryService, createDeliveryService(pool, outbox)),
    register(
      DispatchService,
      createDispatchService({ pool, secretKeys: config.secretKeys, outbox, log }),
    ),
  ];
  const names = new Set(own.map(({ service }) => service.typeName));
  const all = [...own, register(Health, createHealthService(pool, names))];
  const reflected = all.map(({ service }) => service);
  return [
    ...all,
    register(reflectionV1.ServerReflection, createReflectionService(reflected)),
    // The messages of the two versions differ in nothing but their package.
    register(reflectionV1Alpha.ServerReflection, createReflectionService(reflected) as never),
  ];
}

function wireHandler(services: readonly RegisteredService[], interceptors: Interceptor[]) {
  return connectNodeAdapter({
    routes: (router) => addRoutes(router, services),
    interceptors,
    contextValues: (request) =>
      createContextValues().set(peerAddressKey, request.socket?.remoteAddress),
  });
}
