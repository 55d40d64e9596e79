import { Platform } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { beforeEach, expect, it } from "vitest";
import { ALL_KINDS, createPaidDonation, unique } from "../../../test/harness/builders.ts";
import { runRestored } from "../../../test/harness/restored.ts";
import { useServices } from "../../../test/harness/services.ts";
import { accountNoOf } from "../common/ids.ts";
import { requiredMicros } from "../common/timestamps.ts";
import { NOW_MICROS } from "../database/now.ts";

const services = useServices();
let accountId: string;
beforeEach(async () => {
  accountId = await services.createAccount();
});

const at = timestampFromMs(1_600_000_000_000);
const MONEY = { amountCents: 500n, currency: "eur" };

const times = <Result>(count: number, work: (turn: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, turn) => work(turn)));

const follow = (externalId: string) =>
  services.platformEvents.recordPlatformEvent({
    accountId,
    platform: Platform.LIVE_PLATFORM_1,
    externalId,
    kind: { case: "follow", value: {} },
  });

/** Records a follow. Returns its `recorded_at` in microseconds. */
async function followedAt(externalId: string): Promise<number> {
  const { platformEvent } = await follow(externalId);
  return Number(requiredMicros(platformEvent?.recordedAt, "recorded_at"));
}

/** Moves the account's last change and its records an hour ahead, as if the database's clock had stepped back since. */
async function stepClockBack(): Promise<void> {
  const move = (table: string, time: string) =>
    services.database.query(
      `UPDATE ${table} SET ${time} = ${time} + 3600000000 WHERE account_no = ?`,
      [accountNoOf(accountId)],
    );
  await move("account", "feed_changed_at");
  await move("activity", "recorded_at");
}

async function paidDonation() {
  return { accountId, ...(await createPaidDonation(services, accountId)) };
}

async function expectStrictlyIncreasing(records: number) {
  const feed = await services.readFeed(accountId);
  expect(feed).toHaveLength(records);
  expect(new Set(feed.map((row) => row.recorded_at)).size).toBe(records);
}

/** Reads a feed again and again until writing has ended. Returns each `recorded_at` that was later than all before. */
async function pollFeed(isWriting: () => boolean): Promise<number[]> {
  const seen: number[] = [];
  for (;;) {
    const mayEnd = !isWriting();
    const feed = await services.readFeed(accountId);
    const last = seen.at(-1) ?? 0;
    const later = feed.map((row) => row.recorded_at).filter((recorded) => recorded > last);
    if (mayEnd && later.length === 0) return seen;
    seen.push(...later);
  }
}

it.each([
  ["right", async () => {}],
  ["an hour behind", stepClockBack],
])(
  "gives each of 20 concurrent writers a recorded_at of its own, later than all that it saw, while the database's clock is %s. §4.4: a poller sees every record once",
  async (_, prepare) => {
    await follow("before");
    await prepare();
    const [before] = await services.readFeed(accountId);
    let isWriting = true;
    const polling = pollFeed(() => isWriting);
    const order = await times(20, async (writer) => {
      const recorded: number[] = [];
      for (let turn = 0; turn < 20; turn++) recorded.push(await followedAt(`${writer} ${turn}`));
      return recorded;
    });
    isWriting = false;
    const sorted = order.flat().toSorted((a, b) => a - b);
    expect(await polling).toEqual([before?.recorded_at, ...sorted]);
    for (const recorded of order) {
      expect(recorded).toEqual([...new Set(recorded)].toSorted((a, b) => a - b));
    }
    await expectStrictlyIncreasing(401);
  },
);

it("records at a later time even when the database's clock is behind", async () => {
  await follow("before");
  await stepClockBack();
  const first = await followedAt("one");
  expect(await followedAt("two")).toBe(first + 1);
});

it("gives feeds and notices later times than those that a restore lost, even when the clock is behind. ADR 0045", async () => {
  const { query, value } = services.database;
  const readTimes = async () => [
    (await value<number>("SELECT feed_changed_at FROM account WHERE id = ?", [accountId])) ?? 0,
    (await value<number>("SELECT last_notice FROM installation")) ?? 0,
  ];
  await follow("in the backup");
  await stepClockBack();
  await query(`UPDATE installation SET last_notice = ${NOW_MICROS} + 3600000000`);
  const saved = await readTimes();
  const lost = saved.map((time) => time + 1_000);
  await runRestored(services.database);
  await follow("new");
  const later = (await readTimes()).map((time, place) => time > (lost[place] ?? 0));
  expect(later).toEqual([true, true]);
});

it("gives a record's events strictly increasing times, even when the database's clock is behind. §6.2", async () => {
  await services.createEndpoint(accountId, ALL_KINDS);
  const key = await paidDonation();
  await stepClockBack();
  await times(5, (turn) =>
    services.donations.refundDonation({ ...key, refundExternalId: `${turn}`, amountCents: 100n }),
  );
  const payloads = "SELECT payload FROM webhook_event ORDER BY id";
  const stored = await services.database.column<Buffer>(payloads);
  const events = stored.map((payload) => JSON.parse(payload.toString()));
  const sorted = events.toSorted(
    (a, b) => (a.data.refunded_amount_cents ?? 0) - (b.data.refunded_amount_cents ?? 0),
  );
  const createdAt = sorted.map(({ created_at }) => created_at);
  expect(createdAt).toHaveLength(6);
  // The database's clock is nearly an hour behind the time of the earlier event.
  expect(createdAt[1] > new Date(Date.now() + 3_000_000).toISOString()).toBe(true);
  expect(createdAt).toEqual([...new Set(createdAt)].toSorted());
});

it("stores one record for 10 concurrent callers, and gives all the same answer", async () => {
  const externalId = unique("record");
  const events = await times(10, () => follow(externalId));
  expect(new Set(events.map((answer) => answer.platformEvent?.recordId)).size).toBe(1);

  const donation = { accountId, externalId, ...MONEY };
  const created = await times(10, () =>
    services.donations.createDonation({ ...donation, donatedAt: at }),
  );
  expect(created).toEqual(Array.from({ length: 10 }, () => created[0]));
  const paid = await times(10, () => services.donations.payDonation(donation));
  expect(paid).toEqual(Array.from({ length: 10 }, () => paid[0]));

  const contribution = { ...donation, externalId: unique("month"), contributedAt: at };
  const contributed = await times(10, () =>
    services.donations.recordContribution({ ...contribution, subscriptionExternalId: "s" }),
  );
  expect(contributed).toEqual(Array.from({ length: 10 }, () => contributed[0]));
  await expectStrictlyIncreasing(3);
});

it("lets exactly one of several concurrent first contributions start the subscription", async () => {
  const contributions = await times(10, (month) =>
    services.donations.recordContribution({
      accountId,
      externalId: `month ${month}`,
      subscriptionExternalId: "s",
      ...MONEY,
      contributedAt: at,
    }),
  );
  expect(contributions.filter((contribution) => contribution.first)).toHaveLength(1);
  expect(new Set(contributions.map((contribution) => contribution.subscriptionId)).size).toBe(1);
});

it("never refunds more than the amount when refunds race", async () => {
  const key = await paidDonation();
  const refunds = await Promise.allSettled(
    Array.from({ length: 10 }, (_, turn) =>
      services.donations.refundDonation({ ...key, refundExternalId: `${turn}`, amountCents: 100n }),
    ),
  );
  expect(refunds.filter((refund) => refund.status === "fulfilled")).toHaveLength(5);
  expect(await services.readFeed(accountId)).toEqual([]);
});

it("imports each row once when the same import is sent twice at once", async () => {
  const batch = Array.from({ length: 500 }, (_, row) => ({
    externalId: `${row}`,
    ...MONEY,
    donatedAt: at,
  }));
  const answers = await times(2, () =>
    services.importRows(accountId, Platform.CSV, batch, [...batch].reverse()),
  );
  const stored = answers.map((answer) => Number(answer?.stored));
  expect(stored.reduce((sum, count) => sum + count)).toBe(500);
  expect(await services.readFeed(accountId)).toHaveLength(500);
});
