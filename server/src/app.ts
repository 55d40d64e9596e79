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
import { startIdleWindowRemoval } from "./admission/idle-windows.ts";
import { createRedisAdmission } from "./admission/redis-admission.ts";
import { createApiKeyService } from "./api-key/api-key-service.ts";
import { peerAddressKey } from "./caller.ts";
import type { ServerConfig } from "./config.ts";
import { type Listener, listen } from "./core-listener.ts";
import { createPackets, type Packets } from "./database/packet.ts";
import { createPool, type Pool } from "./database/pool.ts";
import { startDeliveryRemoval } from "./delivery/delivery-removal.ts";
import { createDeliveryService } from "./delivery/delivery-service.ts";
import { createDispatchService } from "./dispatch/dispatch-service.ts";
import { startOrphanedRuns } from "./dispatch/orphaned-runs.ts";
import { createOutbox, type Outbox } from "./dispatch/outbox.ts";
import { createDonationService } from "./donation/donation-service.ts";
import { createEndpointService } from "./endpoint/endpoint-service.ts";
import { createHealthService } from "./health-service.ts";
import { createImportService } from "./import/import-service.ts";
import { createAuthenticate } from "./interceptors/authenticate.ts";
import { createErrorMapping } from "./interceptors/error-mapping.ts";
import { createRateLimitHeaders } from "./interceptors/rate-limit-headers.ts";
import { createRequestLog } from "./interceptors/request-log.ts";
import { createValidate } from "./interceptors/validate.ts";
import { createLocalTransport } from "./local-transport.ts";
import type { Log } from "./log.ts";
import { createPlatformEventService } from "./platform-event/platform-event-service.ts";
import { createReflectionService } from "./reflection-service.ts";
import { addRoutes, type RegisteredService, register } from "./routes.ts";
import { createServiceCredentials } from "./service-credential/service-credentials.ts";
import { createWriter, type Writer } from "./write/writer.ts";

/** How long a request waits for its admission. */
const ADMISSION_DEADLINE_MS = 3_000;
/** Three times what a lock is waited for; a connection whose other end is gone would be for a quarter of an hour. */
const WRITE_DEADLINE_MS = 30_000;
/** Connections for writes on their own; those that share a commit have another. */
const WRITE_CONNECTIONS = 4;
/** Connections that record attempts: what waits for an account keeps none of them from it. */
const RECORD_CONNECTIONS = 2;
/** What takes longer is asked again by the dispatcher, which keeps what it made. */
const RECORD_DEADLINE_MS = 10_000;

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
    : createDatabaseAdmission(createPackets(config.databaseUrl, 1, ADMISSION_DEADLINE_MS), nowMs);
  const stopRemoval = startIdleWindowRemoval(pool, log);
  const stopAccountPurge = startAccountPurge(pool, log);
  const outbox = createOutbox(() => performance.now());
  const stopOrphanedRuns = startOrphanedRuns(pool, outbox.retries.notify, log);
  const stopDeliveryRemoval = startDeliveryRemoval(pool, config.deliveryRetentionDays, log);
  if (config.allowedTargets.size > 0) {
    log.warn("endpoints on this machine are allowed: for development and tests only");
  }
  const together = createPackets(config.databaseUrl, 1, WRITE_DEADLINE_MS);
  const alone = createPackets(config.databaseUrl, WRITE_CONNECTIONS, WRITE_DEADLINE_MS);
  const writer = createWriter({ together, alone }, outbox);
  const recording = createPackets(config.databaseUrl, RECORD_CONNECTIONS, RECORD_DEADLINE_MS);
  const services = createServices({ pool, alone, recording, writer, outbox }, config, log);
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
      const packets = [admission, together, alone, recording];
      await Promise.all([pool.end(), ...packets.map((each) => each.close())]);
    },
  };
}

function createServices(
  {
    pool,
    alone,
    recording,
    writer,
    outbox,
  }: {
    readonly pool: Pool;
    readonly alone: Packets;
    readonly recording: Packets;
    readonly writer: Writer;
    readonly outbox: Outbox;
  },
  config: ServerConfig,
  log: Log,
): RegisteredService[] {
  const own = [
    register(ActivityService, createActivityService(pool, config.cursorKeys)),
    register(MeService, createMeService(pool)),
    register(AdmissionService, createAdmissionService()),
    register(DonationService, createDonationService(writer)),
    register(PlatformEventService, createPlatformEventService(writer)),
    register(ImportService, createImportService(pool, writer)),
    register(AccountService, createAccountService(pool, alone, writer)),
    register(ApiKeyService, createApiKeyService(pool, writer)),
    register(EndpointService, createEndpointService(pool, writer, config)),
    register(DeliveryService, createDeliveryService(pool, writer, outbox)),
    register(
      DispatchService,
      createDispatchService({
        ...{ pool, packets: recording, outbox, log },
        secretKeys: config.secretKeys,
      }),
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
