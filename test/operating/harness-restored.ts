import { setTimeout as wait } from "node:timers/promises";
import * as proto from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { vi } from "vitest";
import { accountNoOf } from "../../server/src/common/ids.ts";
import { beginWorkflow } from "../../workflows/src/dispatcher/begin-workflow.ts";
import { deliverWorkflowId, type MadeAttempt } from "../../workflows/src/workflow/contract.ts";
import { headerOf } from "../delivery/harness-deliveries.ts";
import type { Behaviour, ReceivedRequest } from "../delivery/harness-receiver.ts";
import { answer } from "../delivery/harness-receiver-behaviours.ts";
import { createEndpoint, createReader } from "../harness/builders.ts";
import { createTestDatabase } from "../harness/database.ts";
import type { ActivityJson, PageJson } from "../harness/json.ts";
import { createBackups } from "./harness-backup.ts";
import { startServedStack } from "./harness-served.ts";

/** Enough beside other tests on a slow machine. */
export const SETTLE = { timeout: 60_000, interval: 100 };
/** An attempt that the test tells Temporal of. */
export const BUSY: MadeAttempt = { outcome: "receiver_busy", endedAtMs: 1_700_000_000_000 };
const REFUSED = answer(503);
const BETWEEN_WRITES_MS = 100;
const DONATED_AT = timestampFromMs(1_700_000_000_000);

/**
 * Writes, dumps and writes on. Then loses the database, restores it under another name with the commands of
 * docs/operating.md, and starts the product on it with the same Temporal. The donors' names tell what happened to
 * their deliveries:
 *
 * - `ahead`: one attempt in the backup, three in Temporal; still refused
 * - `done`: one attempt in the backup; in Temporal the second succeeded
 * - `flying`: in flight in the backup; Temporal knows its one attempt
 * - `again`: in flight in the backup; nobody knows its attempt
 * - `lost`: not in the backup; Temporal knows one attempt
 * - `load-…`: written before, during and after the dump
 */
export async function restoreUnderLoad(folder: string) {
  const startedMs = Date.now();
  const behaviours = new Map<string, Behaviour>();
  const written: string[] = [];
  /** Requests that are answered after the dump. */
  const held: (() => void)[] = [];
  const hold: Behaviour = (socket, request) => void held.push(() => REFUSED(socket, request));

  const database = await createTestDatabase();
  const name = new URL(database.url).pathname.slice(1);
  const restored = `${name}_restored`;
  const served = await startServedStack(folder, (socket, request) => {
    (behaviours.get(donorOf(request)) ?? answer(200))(socket, request);
  });
  const backups = await createBackups(folder, database);
  await served.start(database.url);

  const { accountId, apiKey } = await createReader(served);
  const accountNo = accountNoOf(accountId) ?? 0;
  await createEndpoint(served, accountId, `https://127.0.0.1:${served.receiver.port}/hook`);
  const scopes = [proto.SessionScope.KEYS_WRITE];
  await served.client(proto.SessionService).createSessionLink({ accountId, scopes });

  const deliveries = served.client(proto.DeliveryService);
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
    requestsOf: (donor: string) =>
      served.receiver.requests.filter((request) => donorOf(request) === donor),
    /** The numbers of the attempts that the receiver got. */
    seen: (donor: string) =>
      story.requestsOf(donor).map((request) => headerOf(request, "Service-Attempt")),
    async read(deliveryId: string) {
      const { delivery, attempts } = await deliveries.getDelivery({ accountId, deliveryId });
      const numbers = attempts.map(({ attempt }) => attempt);
      return { state: delivery?.state, attempts: delivery?.attempts, numbers, all: attempts };
    },
    handleOf: (deliveryId: string) =>
      served.temporal.getHandle(deliverWorkflowId(runOf(deliveryId))),
  };
  const runOf = (deliveryId: string) => ({ accountNo, deliveryId, run: 1 });

  /** Makes a donation whose first request gets `behaviour`. Returns its delivery's id. */
  async function startDelivery(donor: string, behaviour: Behaviour): Promise<string> {
    behaviours.set(donor, behaviour);
    await story.donate(donor);
    const request = await vi.waitUntil(() => story.requestsOf(donor)[0], SETTLE);
    const eventId = headerOf(request, "Service-Event-Id");
    const listed = await deliveries.listDeliveries({ accountId, eventId });
    return listed.deliveries[0]?.id ?? "";
  }

  /** Waits until the workflow of a delivery's retries has started. */
  const untilRetried = (deliveryId: string) =>
    vi.waitUntil(async () => {
      const { state } = await story.read(deliveryId);
      const waiting = "SELECT 1 FROM outbox_entry WHERE delivery_id = ?";
      const entries = await database.query(waiting, [deliveryId]);
      return state === proto.DeliveryState.RETRYING && entries.length === 0;
    }, SETTLE);

  /** Restarts a run in Temporal as if it had made these attempts, without the hours between them. */
  async function bringTo(deliveryId: string, made: readonly MadeAttempt[]): Promise<void> {
    const { taskQueue } = await story.handleOf(deliveryId).describe();
    await story.handleOf(deliveryId).terminate();
    const target = { client: served.temporal, taskQueue, nowMs: Date.now };
    await beginWorkflow(target, { ...runOf(deliveryId), made }, 500);
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
  const ahead = await startDelivery("ahead", REFUSED);
  const done = await startDelivery("done", REFUSED);
  await Promise.all([ahead, done].map(untilRetried));
  const flying = await startDelivery("flying", hold);
  const again = await startDelivery("again", hold);
  await backups.dump(name);

  const writtenAtDump = written.length;
  for (const answerNow of held) answerNow();
  await Promise.all([flying, again].map(untilRetried));
  const lost = await startDelivery("lost", REFUSED);
  await untilRetried(lost);
  behaviours.set("done", answer(200));
  await bringTo(done, [BUSY]);
  const isDelivered = async () => (await story.read(done)).state === proto.DeliveryState.DELIVERED;
  await vi.waitUntil(isDelivered, SETTLE);
  await vi.waitUntil(() => written.length > writtenAtDump, SETTLE);
  writes = false;
  await Promise.all(writers);
  const { cursor } = await story.readOn();
  await served.stopProduct();
  await bringTo(ahead, [BUSY, BUSY, BUSY]);
  await bringTo(flying, [BUSY]);
  // As if its first attempt had succeeded. Temporal never knew of it.
  await story.handleOf(again).terminate();
  await bringTo(lost, [BUSY]);
  const versions = [await readFeedVersion(name)];
  await database.query(`DROP DATABASE ${name}`);

  behaviours.clear();
  behaviours.set("ahead", REFUSED);
  const printed = await backups.restore(restored);
  versions.push(await readFeedVersion(restored));
  const links = await database.query(`SELECT 1 FROM ${restored}.session_link`);
  const restoredUrl = new URL(database.url);
  restoredUrl.pathname = `/${restored}`;
  await served.start(restoredUrl.href);
  return {
    ...story,
    ids: { ahead, done, flying, again, lost },
    /** The cursor after everything in the feed before the loss. */
    cursor,
    startedMs,
    /** The output of the restore commands. */
    printed,
    /** The feed's version before the loss, and before the product started again. */
    versions,
    /** The restored session links. */
    links,
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
