import { setTimeout as wait } from "node:timers/promises";
import * as proto from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { vi } from "vitest";
import { accountNoOf } from "../../server/src/common/ids.ts";
import { beginWorkflow } from "../../workflows/src/dispatcher/begin-workflow.ts";
import { deliverWorkflowId, type MadeAttempt } from "../../workflows/src/workflow/contract.ts";
import { headerOf } from "../delivery/harness-deliveries.ts";
import type { ReceivedRequest } from "../delivery/harness-receiver.ts";
import { answer } from "../delivery/harness-receiver-behaviours.ts";
import { createEndpoint, createReader } from "../harness/builders.ts";
import { createTestDatabase } from "../harness/database.ts";
import type { ActivityJson, PageJson } from "../harness/json.ts";
import { createBackups } from "./harness-backup.ts";
import { startServedStack } from "./harness-served.ts";

/** Long enough on a slow machine that runs other tests too. */
export const SETTLE = { timeout: 60_000, interval: 100 };
/** The attempt that the test tells Temporal of. */
export const BUSY: MadeAttempt = { outcome: "receiver_busy", endedAtMs: 1_700_000_000_000 };
const BETWEEN_WRITES_MS = 100;
const DONATED_AT = timestampFromMs(1_700_000_000_000);

/**
 * Writes, dumps and writes on. Then loses the database, restores it under another name with the commands of
 * docs/operating.md, and starts the product on it with the same Temporal. The donors' names tell what happened to
 * their deliveries:
 *
 * - `done`: one attempt in the backup; in Temporal the second succeeded
 * - `lost`: not in the backup; Temporal knows one attempt
 * - `load-…`: written before, during and after the dump
 */
export async function restoreUnderLoad(folder: string) {
  const startedMs = Date.now();
  /** The donors whose events the receiver refuses. */
  const refused = new Set(["done", "lost"]);
  const written: string[] = [];

  const database = await createTestDatabase();
  const name = new URL(database.url).pathname.slice(1);
  const restored = `${name}_restored`;
  const served = await startServedStack(folder, (socket, request) => {
    answer(refused.has(donorOf(request)) ? 503 : 200)(socket, request);
  });
  const backups = await createBackups(folder, database);
  await served.start(database.url);

  const { accountId, apiKey } = await createReader(served);
  const accountNo = accountNoOf(accountId) ?? 0;
  await createEndpoint(served, accountId, `https://127.0.0.1:${served.receiver.port}/hook`);
  const scopes = [proto.SessionScope.KEYS_WRITE];
  await served.client(proto.SessionService).createSessionLink({ accountId, scopes });
  // One that no sweep deletes.
  await database.query(
    "INSERT INTO dashboard_session (session_hash, account_no, scopes, created_at, expires_at) VALUES (?, ?, 0, 0, ?)",
    [Buffer.alloc(32), accountNo, Number.MAX_SAFE_INTEGER],
  );

  const deliveries = served.client(proto.DeliveryService);
  const requestsOf = (donor: string) =>
    served.receiver.requests.filter((request) => donorOf(request) === donor);
  const story = {
    served,
    written,
    /** Reads the feed to its end, from a cursor or from the start. */
    async readOn(from?: string | null) {
      const data: ActivityJson[] = [];
      for (let cursor = from; ; ) {
        const path = `/api/v1/activity?order=asc&limit=100${cursor ? `&cursor=${cursor}` : ""}`;
        const page = (await served.http(path, apiKey)).json<PageJson>();
        data.push(...page.data);
        cursor = page.pagination.next_cursor;
        if (!page.pagination.has_more) return { data, cursor };
      }
    },
    /** Makes a paid donation. Repeats its calls until they succeed. Returns the record id. */
    async donate(externalId: string): Promise<string> {
      const donations = served.client(proto.DonationService);
      const money = { amountCents: 500n, currency: "eur", donatedAt: DONATED_AT };
      const donation = { accountId, externalId, donorName: externalId, ...money };
      for (;;) {
        try {
          await donations.createDonation(donation);
          const { donation: paid } = await donations.payDonation(donation);
          return paid?.recordId ?? "";
        } catch (error) {
          if (ConnectError.from(error).code !== Code.Unavailable) throw error;
          await wait(BETWEEN_WRITES_MS);
        }
      }
    },
    /** The numbers of the attempts that the receiver got. */
    seen: (donor: string) =>
      requestsOf(donor).map((request) => headerOf(request, "Service-Attempt")),
    async read(deliveryId: string) {
      const { delivery, attempts } = await deliveries.getDelivery({ accountId, deliveryId });
      const numbers = attempts.map(({ attempt }) => attempt);
      return { state: delivery?.state, attempts: delivery?.attempts, numbers };
    },
    handleOf: (deliveryId: string) =>
      served.temporal.getHandle(deliverWorkflowId(runOf(deliveryId))),
  };
  const runOf = (deliveryId: string) => ({ accountNo, deliveryId, run: 1 });

  /** Makes a refused donation. Waits until the workflow of its retries has started. Returns its delivery's id. */
  async function startRetries(donor: string): Promise<string> {
    await story.donate(donor);
    const request = await vi.waitUntil(() => requestsOf(donor)[0], SETTLE);
    const eventId = headerOf(request, "Service-Event-Id");
    const listed = await deliveries.listDeliveries({ accountId, eventId });
    const deliveryId = listed.deliveries[0]?.id ?? "";
    await vi.waitUntil(async () => {
      const { state } = await story.read(deliveryId);
      const waiting = "SELECT 1 FROM outbox_entry WHERE delivery_id = ?";
      const entries = await database.query(waiting, [deliveryId]);
      return state === proto.DeliveryState.RETRYING && entries.length === 0;
    }, SETTLE);
    return deliveryId;
  }

  /** Restarts a run in Temporal as if it had made this attempt, without the minute before the next one. */
  async function hasten(deliveryId: string): Promise<void> {
    const { taskQueue } = await story.handleOf(deliveryId).describe();
    await story.handleOf(deliveryId).terminate();
    const target = { client: served.temporal, taskQueue, nowMs: Date.now };
    await beginWorkflow(target, { ...runOf(deliveryId), made: [BUSY] }, 500);
  }

  async function readFeedVersion(of: string): Promise<number> {
    const sql = `SELECT feed_changed_at AS version FROM ${of}.account`;
    return (await database.query<{ version: number }>(sql))[0]?.version ?? 0;
  }

  // The writers write until after the dump.
  let writes = true;
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    for (let number = 0; writes; number += 1) {
      const externalId = `load-${writer}-${number}`;
      await story.donate(externalId);
      written.push(externalId);
      // A pause, because the test writes everything again at the end.
      await wait(BETWEEN_WRITES_MS);
    }
  });
  const done = await startRetries("done");
  // As if the dispatcher's clock was a day ahead.
  const aDayAhead = "UPDATE delivery_attempt SET started_at = started_at + 86400000000";
  await database.query(`${aDayAhead} WHERE delivery_id = ?`, [done]);
  await backups.dump(name);
  const dumpedMs = Date.now();

  const writtenAtDump = written.length;
  const lost = await startRetries("lost");
  refused.delete("done");
  await hasten(done);
  const isDelivered = async () => (await story.read(done)).state === proto.DeliveryState.DELIVERED;
  await vi.waitUntil(isDelivered, SETTLE);
  await vi.waitUntil(() => written.length > writtenAtDump, SETTLE);
  writes = false;
  await Promise.all(writers);
  const { cursor } = await story.readOn();
  await served.stopProduct();
  await hasten(lost);
  const versions = [await readFeedVersion(name)];
  await database.query(`DROP DATABASE ${name}`);

  const printed = await backups.restore(restored);
  versions.push(await readFeedVersion(restored));
  const sessions = await database.query(
    `SELECT 1 FROM ${restored}.session_link UNION ALL SELECT 1 FROM ${restored}.dashboard_session`,
  );
  const restoredUrl = new URL(database.url);
  restoredUrl.pathname = `/${restored}`;
  await served.start(restoredUrl.href);
  return {
    ...story,
    ids: { done, lost },
    /** The cursor after everything in the feed before the loss. */
    cursor,
    startedMs,
    /** When the dump had ended. */
    dumpedMs,
    /** The output of the restore commands. */
    printed,
    /** The feed's version before the loss, and before the product started again. */
    versions,
    /** The restored session links and sessions. */
    sessions,
    async stop() {
      await served.stop();
      await database.query(`DROP DATABASE ${restored}`);
      // `drop` expects the database to exist.
      await database.query(`CREATE DATABASE ${name}`);
      await database.drop();
    },
  };
}

function donorOf({ body }: ReceivedRequest): string {
  return JSON.parse(body.toString("utf8")).data.donor_name;
}
