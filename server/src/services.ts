import {
  AccountService,
  ActivityService,
  AdmissionService,
  ApiKeyService,
  DeliveryService,
  DispatchService,
  DonationService,
  EndpointService,
  FeedChangeService,
  ImportService,
  MeService,
  NoticeService,
  PlatformEventService,
  SessionService,
} from "@activity/proto";
import { Health, reflectionV1, reflectionV1Alpha } from "@activity/proto/infrastructure";
import type { Log } from "@activity/runtime/log";
import type { Metrics } from "@activity/runtime/metrics";
import { createAccountService } from "./account/account-service.ts";
import { deleteAccount } from "./account-deletion/account-deletion.ts";
import { createActivityService } from "./activity/activity-service.ts";
import { createMeService } from "./activity/me-service.ts";
import { createAdmissionService } from "./admission/admission-service.ts";
import { ScopeFamily } from "./admission/session-scope.ts";
import { createApiKeyService } from "./api-key/api-key-service.ts";
import type { ServerConfig } from "./config.ts";
import type { Packets } from "./database/packet.ts";
import type { Pool } from "./database/pool.ts";
import { createDeliveryService } from "./delivery/delivery-service.ts";
import { createDispatchService } from "./dispatch/dispatch-service.ts";
import type { DispatchStore } from "./dispatch/dispatch-store.ts";
import type { Outbox } from "./dispatch/outbox.ts";
import { createDonationService } from "./donation/donation-service.ts";
import { createEndpointService } from "./endpoint/endpoint-service.ts";
import { createFeedChangeService } from "./feed-change/feed-change-service.ts";
import type { FeedChanges } from "./feed-change/feed-changes.ts";
import { createImportService } from "./import/import-service.ts";
import { createNoticeService } from "./notice/notice-service.ts";
import { createPlatformEventService } from "./platform-event/platform-event-service.ts";
import { Access } from "./rpc/access.ts";
import { createHealthService } from "./rpc/health-service.ts";
import type { Readiness } from "./rpc/readiness.ts";
import { createReflectionService } from "./rpc/reflection-service.ts";
import { type RegisteredService, register } from "./rpc/registered-service.ts";
import { Permission } from "./service-credential/permission.ts";
import { createSessionService } from "./session/session-service.ts";
import type { Writer } from "./write/writer.ts";

/**
 * Creates the core's services. Each is registered with the access to its calls, and with whether its fields are
 * checked.
 */
export function createServices(
  {
    pool,
    readiness,
    alone,
    dispatchStore,
    writer,
    outbox,
    feedChanges,
    metrics,
  }: {
    readonly pool: Pool;
    readonly readiness: Readiness;
    readonly alone: Packets;
    readonly dispatchStore: DispatchStore;
    readonly writer: Writer;
    readonly outbox: Outbox;
    readonly feedChanges: FeedChanges;
    readonly metrics: Metrics;
  },
  config: ServerConfig,
  log: Log,
): RegisteredService[] {
  // `isValidated` is false for read calls, which check their few fields themselves, and for imports, which continue
  // after a bad row.
  const own = [
    register(ActivityService, createActivityService(pool, config.cursorKeys, feedChanges), {
      ...{ access: Access.Reader, dashboard: ScopeFamily.Activity, isValidated: false },
    }),
    register(MeService, createMeService(pool), { access: Access.Reader, isValidated: false }),
    register(AdmissionService, createAdmissionService(), {
      ...{ access: Access.Reader, except: { admitClient: Access.Client }, isValidated: false },
    }),
    register(FeedChangeService, createFeedChangeService(feedChanges), {
      access: Permission.ClientAddressForward,
    }),
    register(DonationService, createDonationService(writer), { access: Permission.DonationWrite }),
    register(PlatformEventService, createPlatformEventService(writer), {
      access: Permission.PlatformEventWrite,
    }),
    register(ImportService, createImportService(pool, writer), {
      ...{ access: Permission.DonationImport, isValidated: false },
    }),
    register(
      AccountService,
      createAccountService(pool, alone, writer, (id, onEnded) =>
        deleteAccount(pool, alone, id, onEnded),
      ),
      {
        ...{ access: Permission.AccountManage, except: { getAccount: Permission.AccountRead } },
      },
    ),
    register(SessionService, createSessionService(pool, alone, writer, config.dashboard), {
      access: Access.Session,
      except: { createSessionLink: Permission.SessionCreate, exchangeCode: Access.Browser },
    }),
    register(ApiKeyService, createApiKeyService(pool, writer), {
      ...{ access: Permission.ApiKeyManage, dashboard: ScopeFamily.Keys },
    }),
    register(EndpointService, createEndpointService(pool, writer, config), {
      ...{ access: Permission.EndpointManage, dashboard: ScopeFamily.Endpoints },
    }),
    register(DeliveryService, createDeliveryService(pool, writer, outbox), {
      ...{ access: Permission.EndpointManage, dashboard: ScopeFamily.Deliveries },
    }),
    register(NoticeService, createNoticeService(pool), {
      access: Permission.NoticeRead,
      except: { listOpenNotices: Access.Session, dismissNotice: Access.Session },
    }),
    register(
      DispatchService,
      createDispatchService({
        ...{ store: dispatchStore, outbox, log, metrics },
        ...{ secretKeys: config.secretKeys, random: Math.random },
      }),
      { access: Permission.DeliveryDispatch },
    ),
  ];
  const names = new Set(own.map(({ service }) => service.typeName));
  const all = [
    ...own,
    register(Health, createHealthService(readiness, names), { access: Access.Open }),
  ];
  const reflection = createReflectionService(all.map(({ service }) => service));
  return [
    ...all,
    register(reflectionV1.ServerReflection, reflection, { access: Access.Open }),
    // The messages of the two versions differ only in their package.
    register(reflectionV1Alpha.ServerReflection, reflection as never, { access: Access.Open }),
  ];
}
