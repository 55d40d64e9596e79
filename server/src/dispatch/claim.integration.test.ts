import { AttemptOutcome, DeliveryState, WebhookEventKind } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { writeDeliveries, writeWaiting } from "../../../test/delivery/harness-backlog.ts";
import { rowCounterOf } from "../../../test/harness/row-reads.ts";
import { type Services, startServices } from "../../../test/harness/services.ts";
import {
  MANY_UNDER_WAY,
  UNDER_WAY_AMONG_MANY,
  UNDER_WAY_PER_ENDPOINT,
  WORTH_CLAIMING,
} from "./claim-limits.ts";

let services: Services;
let busy: { accountId: string; endpointId: string };
let prefixes = 0;
beforeAll(async () => {
  services = await startServices();
});
afterAll(() => services.stop());
beforeEach(async () => {
  await services.database.query("DELETE FROM outbox_entry");
  await services.database.query("DELETE FROM delivery");
  busy = await createReceiver();
});

async function createReceiver(accountId?: string) {
  const owner = accountId ?? (await services.createAccount());
  const kinds = { kinds: [WebhookEventKind.DONATION_CREATED] };
  const created = { accountId: owner, url: "https://example.com/hook", kinds };
  const { endpoint } = await services.endpoints.createEndpoint(created);
  return { accountId: owner, endpointId: endpoint?.id ?? "" };
}
/** What every backlog of a test has of its own. */
const backlogOf = ({ accountId, endpointId }: typeof busy, count: number) => ({
  accountId,
  endpointIds: [endpointId],
  count,
  prefix: `backlog${String(prefixes++).padStart(3, "0")}`,
});
const addWaiting = (receiver: typeof busy, count: number) =>
  writeWaiting(services.database, backlogOf(receiver, count));
/** First attempts that were handed over so long ago. */
const addUnderWay = (receiver: typeof busy, count: number, secondsAgo = 0) =>
  writeDeliveries(services.database, backlogOf(receiver, count), {
    state: DeliveryState.HANDED_OVER,
    attempts: 0,
    nextAttemptSeconds: -secondsAgo,
  });
const claim = async (limit = 64) => (await services.dispatch.claimDeliveries({ limit })).sequences;
/** Claims and hands over until a claim comes back empty. */
async function claimAll(): Promise<string[]> {
  const claimed: string[] = [];
  for (;;) {
    const sequences = await claim();
    if (sequences.length === 0) return claimed;
    await services.dispatch.markHandedOver({ sequences });
    claimed.push(...sequences.map(({ deliveryId }) => deliveryId));
  }
}
const record = (deliveryId: string) =>
  services.dispatch.recordAttempt({
    sequence: { deliveryId, sequence: 1 },
    attempt: 1,
    startedAt: timestampFromMs(1_600_000_000_000),
    duration: {},
    outcome: AttemptOutcome.DELIVERED,
  });

describe("an endpoint that is busy", () => {
  it("gets no more first attempts than fit, and more when enough of them have ended", async () => {
    await addWaiting(busy, 200);
    const first = await claimAll();
    expect(first.length).toBeGreaterThan(UNDER_WAY_PER_ENDPOINT - WORTH_CLAIMING);
    expect(first.length).toBeLessThanOrEqual(UNDER_WAY_PER_ENDPOINT);
    for (const id of first.slice(0, WORTH_CLAIMING - 1)) await record(id);
    const room = UNDER_WAY_PER_ENDPOINT - first.length + WORTH_CLAIMING - 1;
    expect(await claimAll()).toHaveLength(room < WORTH_CLAIMING ? 0 : room);
    for (const id of first.slice(WORTH_CLAIMING - 1)) await record(id);
    expect((await claimAll()).length).toBeGreaterThanOrEqual(WORTH_CLAIMING);
  });

  it("is not given what others have claimed and not handed over yet", async () => {
    await addWaiting(busy, 200);
    let claimed = 0;
    for (let turn = 0; turn < 10; turn++) claimed += (await claim()).length;
    expect(claimed).toBeLessThanOrEqual(UNDER_WAY_PER_ENDPOINT);
  });

  it("holds up neither its account's other endpoints nor other accounts", async () => {
    await addUnderWay(busy, UNDER_WAY_PER_ENDPOINT);
    await addWaiting(busy, 1_000);
    const sibling = await createReceiver(busy.accountId);
    const other = await createReceiver();
    await addWaiting(sibling, 3);
    await addWaiting(other, 3);
    expect(await claimAll()).toHaveLength(6);
  });

  it("does not put another account's only delivery behind all of its own", async () => {
    await addWaiting(busy, 1_000);
    const other = await createReceiver();
    await addWaiting(other, 1);
    const [{ id } = { id: "" }] = await services.database.query<{ id: string }>(
      "SELECT delivery_id AS id FROM outbox_entry WHERE endpoint_id = ?",
      [other.endpointId],
    );
    const claimed = (await claim()).map(({ deliveryId }) => deliveryId);
    expect(claimed.slice(0, 2)).toContain(id);
  });

  it("shares its account's turn with the endpoints beside it", async () => {
    const sibling = await createReceiver(busy.accountId);
    await addWaiting(busy, 100);
    await addWaiting(sibling, 100);
    await claim(20);
    const leased = await services.database.query<{ entries: number }>(
      "SELECT COUNT(*) AS entries FROM outbox_entry WHERE claimable_at > 0 GROUP BY endpoint_id",
    );
    expect(leased.map(({ entries }) => entries)).toEqual([10, 10]);
  });

  it("lets a claim go on to the accounts behind, however many are busy before them", async () => {
    for (let turn = 0; turn < 5; turn++) {
      const receiver = await createReceiver();
      await addUnderWay(receiver, UNDER_WAY_PER_ENDPOINT);
      await addWaiting(receiver, 1);
    }
    const last = await createReceiver();
    await addWaiting(last, 3);
    const claimed = [await claim(1), await claim(1), await claim(1), await claim(1)];
    expect(claimed.map(({ length }) => length)).toEqual([1, 1, 1, 0]);
  });

  it("is given more, while a claim waits, when room comes free in another process", async () => {
    const underWay = await addUnderWay(busy, UNDER_WAY_PER_ENDPOINT);
    await addWaiting(busy, 1);
    const rowsRead = await rowCounterOf(services.database, "delivery");
    const before = await rowsRead();
    const wait = { seconds: 10n };
    const waiting = services.dispatch.claimDeliveries({ limit: 64, wait });
    // Each look counts them: the first has ended, and the claim waits.
    const counted = async () => (await rowsRead()) - before;
    await expect.poll(counted).toBeGreaterThanOrEqual(2 * UNDER_WAY_PER_ENDPOINT);
    await services.database.query("UPDATE delivery SET state = 3 WHERE id IN (?)", [underWay]);
    expect((await waiting).sequences).toHaveLength(1);
  });

  it("is free again when the attempts of a worker that died have had their time", async () => {
    await addUnderWay(busy, UNDER_WAY_PER_ENDPOINT, 16);
    await addWaiting(busy, 1);
    expect(await claimAll()).toHaveLength(1);
  });

  it("is not held to be busy by deliveries that are tried again later, or just now", async () => {
    for (const nextAttemptSeconds of [-1, 60]) {
      const stored = { state: DeliveryState.HANDED_OVER, attempts: 1, nextAttemptSeconds };
      const many = backlogOf(busy, UNDER_WAY_PER_ENDPOINT);
      await writeDeliveries(services.database, many, stored);
    }
    await addWaiting(busy, 1);
    expect(await claimAll()).toHaveLength(1);
  });
});

it("an endpoint gets a few and no more while many are under way at all of them together", async () => {
  await addUnderWay(busy, MANY_UNDER_WAY);
  await addWaiting(busy, 10);
  const others = [await createReceiver(), await createReceiver()];
  for (const other of others) await addWaiting(other, 100);
  expect(await claimAll()).toHaveLength(2 * UNDER_WAY_AMONG_MANY);
});

it("what is claimed for a relay that is gone can be claimed again at once", async () => {
  await addWaiting(busy, 3);
  const gone = new AbortController();
  const asked = services.dispatch.claimDeliveries({ limit: 64 }, { signal: gone.signal });
  gone.abort();
  await expect(asked).rejects.toThrow();
  // Its claim may not have ended yet.
  await expect.poll(async () => (await claim()).length, { timeout: 10_000 }).toBe(3);
});

it("reads no more rows for 50,000 that wait and 50,000 that sleep than for a few", async () => {
  const siblings = [busy];
  while (siblings.length < 10) siblings.push(await createReceiver(busy.accountId));
  const endpointIds = siblings.map(({ endpointId }) => endpointId);
  const many = () => ({ ...backlogOf(busy, 50_000), endpointIds });
  await writeWaiting(services.database, many());
  const asleep = { state: DeliveryState.HANDED_OVER, attempts: 2, nextAttemptSeconds: 600 };
  await writeDeliveries(services.database, many(), asleep);
  const counters = await Promise.all(
    ["outbox_entry", "delivery"].map((table) => rowCounterOf(services.database, table)),
  );
  const read = () => Promise.all(counters.map((counter) => counter()));
  const before = await read();
  expect(await claim()).toHaveLength(64);
  const [entries = 0, deliveries = 0] = (await read()).map((count, table) => {
    return count - (before[table] ?? 0);
  });
  // Ten endpoints' oldest, as many as one of them could be given.
  expect(entries).toBeLessThan(10 * 64 + 300);
  expect(deliveries).toBeLessThan(300);
});
