import { randomBytes } from "node:crypto";
import * as proto from "@activity/proto";
import { NO_METRICS } from "@activity/runtime/metrics";
import { PROCESS_TIMING } from "@activity/runtime/timing";
import { readConfig } from "@activity/server";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createClient, type HandlerContext } from "@connectrpc/connect";
import type { ActivityRow } from "../../server/src/activity/activity-store.ts";
import { DomainError, ErrorCode } from "../../server/src/common/errors.ts";
import { accountNoOf } from "../../server/src/common/ids.ts";
import { createPackets, type Packets } from "../../server/src/database/packet.ts";
import { createPool, type Pool } from "../../server/src/database/pool.ts";
import { inTransaction } from "../../server/src/database/transaction.ts";
import { createOutbox } from "../../server/src/dispatch/outbox.ts";
import { createSqlDispatchStore } from "../../server/src/dispatch/sql-dispatch-store.ts";
import { createFeedChanges } from "../../server/src/feed-change/feed-changes.ts";
import { createImportService } from "../../server/src/import/import-service.ts";
import { createLocalTransport } from "../../server/src/rpc/local-transport.ts";
import { createReadiness } from "../../server/src/rpc/readiness.ts";
import { createServices } from "../../server/src/services.ts";
import { createWriter } from "../../server/src/write/writer.ts";
import { createAccount, createEndpoint } from "./builders.ts";
import type { Clients } from "./clients.ts";
import { createTestDatabase } from "./database.ts";
import { QUIET } from "./quiet.ts";
import { useStarted } from "./use-started.ts";

const CONNECTIONS = 20;
const WRITE_DEADLINE_MS = 30_000;

export type RowInit = MessageInitShape<typeof proto.ImportRowSchema>;

/** A run, as the dispatch service identifies it. */
export type Run = { readonly accountNo: bigint; readonly deliveryId: string; readonly run: number };

/** The first run of a delivery. */
export function firstRunOf(accountId: string, deliveryId: string): Run {
  return { accountNo: BigInt(accountNoOf(accountId) ?? 0), deliveryId, run: 1 };
}

/** A range of times that has every delivery. */
export const EVER = { since: timestampFromMs(0), until: timestampFromMs(4e12) };

/** Fields that replace the defaults of `madeAttempt`. */
type AttemptChanges = Omit<MessageInitShape<typeof proto.MadeAttemptSchema>, "$typeName">;

/** A made attempt, by default the only one of its run. */
export function madeAttempt(
  run: Run | undefined,
  outcome: proto.AttemptOutcome,
  changes: AttemptChanges = {},
): MessageInitShape<typeof proto.MadeAttemptSchema> {
  const startedAt = timestampFromMs(1_600_000_000_000);
  const own = { attempt: 1, startedAt, duration: { nanos: 5_000_000 }, outcome };
  return { ...(run && { run }), ...own, ...changes };
}

/**
 * The services on their own database. Calls are function calls: they need no credential, and they fail with a
 * DomainError.
 */
export async function startServices() {
  const database = await createTestDatabase();
  const pool: Pool = createPool(database.url, CONNECTIONS);
  const outbox = createOutbox(PROCESS_TIMING);
  const [together, alone, leftOut, packets] = [1, 4, 2, 4].map((connections) =>
    createPackets(database.url, connections, WRITE_DEADLINE_MS),
  ) as [Packets, Packets, Packets, Packets];
  const log = QUIET;
  const feedChanges = createFeedChanges(pool, log, () => performance.now());
  const writer = createWriter({ together, alone, leftOut }, outbox, feedChanges);
  const store = createSqlDispatchStore(pool, packets);
  const importer = createImportService(pool, writer);
  const config = readConfig({
    ...{ DATABASE_URL: database.url, CORE_PORT: "0", DASHBOARD_URL: "https://dash.example.com" },
    CURSOR_KEYS: randomBytes(32).toString("hex"),
    SECRET_KEYS: randomBytes(32).toString("hex"),
  });
  const readiness = createReadiness(pool, PROCESS_TIMING.nowMs);
  const parts = { pool, readiness, alone, dispatchStore: store, writer, outbox, feedChanges };
  const registered = createServices({ ...parts, metrics: NO_METRICS }, config, log);
  const transport = createLocalTransport(registered, []);
  const client: Clients = (service) => createClient(service, transport);
  const [endpoints, dispatch] = [client(proto.EndpointService), client(proto.DispatchService)];

  async function* sendImport(
    steps: Iterable<
      NonNullable<MessageInitShape<typeof proto.ImportDonationsRequestSchema>["step"]>
    >,
  ): AsyncGenerator<proto.ImportDonationsResponse> {
    async function* requests() {
      for (const step of steps) yield create(proto.ImportDonationsRequestSchema, { step });
    }
    // Gives an empty context, because an import uses none.
    for await (const response of importer.importDonations(requests(), {} as HandlerContext)) {
      yield create(proto.ImportDonationsResponseSchema, response);
    }
  }

  return {
    ...{ database, pool, packets, store, secretKeys: config.secretKeys, log, writer },
    random: Math.random,
    ...{ client, endpoints, dispatch, outbox, feedChanges, sendImport },
    accounts: client(proto.AccountService),
    apiKeys: client(proto.ApiKeyService),
    donations: client(proto.DonationService),
    platformEvents: client(proto.PlatformEventService),
    sessions: client(proto.SessionService),
    notices: client(proto.NoticeService),
    deliveries: client(proto.DeliveryService),

    /** Imports batches. Returns the last answer. */
    async importRows(
      accountId: string,
      platform: proto.Platform,
      ...batches: RowInit[][]
    ): Promise<proto.ImportDonationsResponse | undefined> {
      let last: proto.ImportDonationsResponse | undefined;
      for await (const answer of sendImport([
        { case: "opening", value: { accountId, platform } },
        ...batches.map((rows) => ({ case: "rows" as const, value: { rows } })),
      ])) {
        last = answer;
      }
      return last;
    },

    /** Creates an account that is not verified. Returns its id. */
    createAccount: () => createAccount({ client }, { verified: false }),

    /** Creates an endpoint, by default for created donations. Returns its id. */
    async createEndpoint(
      accountId: string,
      kinds: proto.WebhookEventKind[] = [proto.WebhookEventKind.DONATION_CREATED],
    ): Promise<string> {
      return (await createEndpoint({ client }, accountId, undefined, kinds)).endpointId;
    },

    /** Resets an account's limits of tests and bulk retries. */
    forgetSending: (accountId: string) =>
      database.query("UPDATE account SET test_times = NULL, bulk_retried_at = NULL WHERE id = ?", [
        accountId,
      ]),

    /**
     * Sends a test to an endpoint, despite the limit of ten tests a minute. It retries, because many parallel calls
     * may reach the limit. Returns the first run of the delivery.
     */
    async sendTest(accountId: string, endpointId: string): Promise<Run> {
      for (;;) {
        await database.query("UPDATE account SET test_times = NULL WHERE id = ?", [accountId]);
        try {
          const { deliveryId } = await endpoints.sendTest({ accountId, endpointId });
          return firstRunOf(accountId, deliveryId);
        } catch (error) {
          const isLimit = error instanceof DomainError && error.code === ErrorCode.TestLimitReached;
          if (!isLimit) throw error;
        }
      }
    },

    /** Claims first attempts without waiting. Returns their delivery ids in claim order. */
    async claim(limit = 256): Promise<string[]> {
      const { attempts } = await dispatch.claimAttempts({ limit, endpointLimit: 64 });
      return attempts.map(({ run }) => run?.deliveryId ?? "");
    },

    /** Runs `work` while another transaction has locked a delivery. */
    whileLocked: <Result>({ accountNo, deliveryId }: Run, work: () => Promise<Result>) =>
      inTransaction(pool, async (tx) => {
        // Locks by primary key. By the id alone, the lock would cover all rows.
        const lock = "SELECT 1 FROM delivery WHERE account_no = ? AND id = ? FOR UPDATE";
        await tx.query(lock, [accountNo, deliveryId]);
        return work();
      }),

    /** Records the outcome of an attempt, by default the first. Returns which attempts are busy. */
    async record(run: Run | undefined, outcome: proto.AttemptOutcome, changes?: AttemptChanges) {
      const attempts = [madeAttempt(run, outcome, changes)];
      return (await dispatch.recordAttempts({ attempts })).busy;
    },

    /** Reads the whole feed of an account, oldest first. */
    readFeed: (accountId: string) =>
      database.query<ActivityRow>(
        `SELECT recorded_at, record_key, type, platform, unit, value, occurred_at, currency,
           refunded_amount_cents, actor_name, message
         FROM activity WHERE account_no = ? ORDER BY recorded_at, record_key`,
        [accountNoOf(accountId)],
      ),

    async stop(): Promise<void> {
      feedChanges.close();
      await Promise.all([together, alone, leftOut, packets].map((each) => each.close()));
      await pool.end();
      await database.drop();
    },
  };
}

export type Services = Awaited<ReturnType<typeof startServices>>;

/** The services, shared by the tests of a file or group. */
export const useServices = () => useStarted(() => startServices());
