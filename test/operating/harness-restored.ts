import { setTimeout as wait } from "node:timers/promises";
import {
  DeliveryService,
  DeliveryState,
  DonationService,
  SessionScope,
  SessionService,
} from "@activity/proto";
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
import { createBackups } from "./harness-backup.ts";
import { startServedStack } from "./harness-served.ts";

/** Beside other tests on a slow machine. */
export const SETTLE = { timeout: 60_000, interval: 100 };
/** An attempt that Temporal is made to know. */
export const BUSY: MadeAttempt = { outcome: "receiver_busy", endedAtMs: 1_700_000_000_000 };
const REFUSED = answer(503);
const BETWEEN_WRITES_MS = 100;
const DONATED_AT = timestampFromMs(1_700_000_000_000);

type Page = {
  readonly data: readonly { readonly id: string; readonly actor: { readonly name: string } }[];
  readonly pagination: { readonly has_more: boolean; readonly next_cursor: string };
};

export type Restored = Awaited<ReturnType<typeof restoreUnderLoad>>;

/**
 * Writes, dumps, writes on, loses the database, restores it elsewhere with the commands of docs/operating.md, and
 * starts the product on it with the same Temporal. The donors name what became of their deliveries:
 *
 * - `ahead`, one attempt in the backup, three in Temporal; still refused
 * - `done`, one attempt in the backup; in Temporal the second delivered
 * - `flying`, in flight in the backup; its one attempt is known to Temporal
 * - `again`, in flight in the backup; nobody knows that it was attempted
 * - `lost`, not in the backup; one attempt is known to Temporal
 * - `load-…`, written before, during and after the dump
 */
export async function restoreUnderLoad() {
  const startedMs = Date.now();
  const behaviours = new Map<string, Behaviour>();
  const written: string[] = [];
  /** Requests that are answered only after the dump. */
  const held: (() => void)[] = [];
  const hold: Behaviour = (socket, request) => void held.push(() => REFUSED(socket, request));

  const database = await createTestDatabase();
  const name = new URL(database.url).pathname.slice(1);
  const restored = `${name}_restored`;
  const served = await startServedStack((socket, request) => {
    (behaviours.get(donorOf(request)) ?? answer(200))(socket, request);
  });
  const backups = await createBackups(served.folder, database);
  await served.start(database.url);

  const { accountId, apiKey } = await createReader(served);
  const accountNo = accountNoOf(accountId) ?? 0;
  await createEndpoint(served, accountId, `https://127.0.0.1:${served.receiver.port}/hook`);
  const scopes = [SessionScope.KEYS_WRITE];
  await served.client(SessionService).createSessionLink({ accountId, scopes });

  const story = {
    served,
    written,
    /** Reads the feed to its end, behind a cursor or from its beginning. */
    async readOn(from?: string) {
      const data: Page["data"][number][] = [];
      for (let at = from; ; ) {
        const path = `/api/v1/activity?order=asc&limit=100${at ? `&cursor=${at}` : ""}`;
        const page = (await served.http(path, apiKey)).json<Page>();
        data.push(...page.data);
        at = page.pagination.next_cursor;
        if (!page.pagination.has_more) return { data, cursor: at };
      }
    },
    /** Makes a donation that is paid, as its writer does each time, until it is taken; returns its record's id. */
    async donate(externalId: string): Promise<string> {
      const donations = served.client(DonationService);
      const donation = { accountId, externalId, donorName: externalId };
      const money = { amountCents: 500n, currency: "eur", donatedAt: DONATED_AT };
      for (;;) {
        try {
          await donations.createDonation({ ...donation, ...money });
          const paid = await donations.payDonation({ accountId, externalId });
          return paid.donation?.recordId ?? "";
        } catch (error) {
          if (ConnectError.from(error).code !== Code.Unavailable) throw error;
          await wait(BETWEEN_WRITES_MS);
        }
      }
    },
    requestsOf: (donor: string) =>
      served.receiver.requests.filter((request) => donorOf(request) === donor),
    /** The attempts that the receiver saw, by their numbers. */
    seen: (donor: string) =>
      story.requestsOf(donor).map((request) => headerOf(request, "Service-Attempt")),
    async read(deliveryId: string) {
      const { delivery, attempts } = await served
        .client(DeliveryService)
        .getDelivery({ accountId, deliveryId });
      const numbers = attempts.map(({ attempt }) => attempt);
      return { state: delivery?.state, attempts: delivery?.attempts, numbers, all: attempts };
    },
    handleOf: (deliveryId: string) =>
      served.temporal.getHandle(deliverWorkflowId(runOf(deliveryId))),
  };
  const runOf = (deliveryId: string) => ({ accountNo, deliveryId, run: 1 });

  /** Makes a donation whose event the receiver answers so, once; returns its delivery's id. */
  async function tell(donor: string, behaviour: Behaviour): Promise<string> {
    behaviours.set(donor, behaviour);
    await story.donate(donor);
    await vi.waitUntil(() => story.seen(donor).length > 0, SETTLE);
    const [request] = story.requestsOf(donor);
    const eventId = request ? headerOf(request, "Service-Event-Id") : "";
    const { deliveries } = await served
      .client(DeliveryService)
      .listDeliveries({ accountId, eventId });
    return deliveries[0]?.id ?? "";
  }

  /** Waits until the workflow of a delivery's retries is begun. */
  const untilRetried = (deliveryId: string) =>
    vi.waitUntil(async () => {
      const { state } = await story.read(deliveryId);
      const waiting = "SELECT 1 FROM outbox_entry WHERE delivery_id = ?";
      const entries = await database.query(waiting, [deliveryId]);
      return state === DeliveryState.RETRYING && entries.length === 0;
    }, SETTLE);

  /** Brings a run in Temporal to where it is after these attempts, without the hours between them. */
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

  // Writers write from here on until after the dump.
  let writes = true;
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    for (let number = 0; writes; number += 1) {
      const externalId = `load-${writer}-${number}`;
      await story.donate(externalId);
      written.push(externalId);
      // All is written once more in the end.
      await wait(BETWEEN_WRITES_MS);
    }
  });
  const ahead = await tell("ahead", REFUSED);
  const done = await tell("done", REFUSED);
  await Promise.all([ahead, done].map(untilRetried));
  const flying = await tell("flying", hold);
  const again = await tell("again", hold);
  await backups.dump(name);

  const writtenAtDump = written.length;
  for (const answerNow of held) answerNow();
  await Promise.all([flying, again].map(untilRetried));
  const lost = await tell("lost", REFUSED);
  await untilRetried(lost);
  behaviours.set("done", answer(200));
  await bringTo(done, [BUSY]);
  const { DELIVERED } = DeliveryState;
  await vi.waitUntil(async () => (await story.read(done)).state === DELIVERED, SETTLE);
  await vi.waitUntil(() => written.length > writtenAtDump, SETTLE);
  writes = false;
  await Promise.all(writers);
  const { cursor } = await story.readOn();
  await served.stopProduct();
  await bringTo(ahead, [BUSY, BUSY, BUSY]);
  await bringTo(flying, [BUSY]);
  // As if its first attempt had succeeded: Temporal never heard of it.
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
    /** The ids of the deliveries. */
    ids: { ahead, done, flying, again, lost },
    /** Behind all that was in the feed before it was lost. */
    cursor,
    startedMs,
    /** What the commands of the restore printed. */
    printed,
    /** The feed's version before it was lost and before the product started again. */
    versions,
    /** The session links that were restored. */
    links,
    async stop() {
      await served.stop();
      await database.query(`DROP DATABASE ${restored}`);
      // It is dropped with its connection.
      await database.query(`CREATE DATABASE ${name}`);
      await database.drop();
    },
  };
}

function donorOf({ body }: ReceivedRequest): string {
  return JSON.parse(body.toString("utf8")).data.donor_name;
}
