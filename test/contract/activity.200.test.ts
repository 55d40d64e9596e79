import { DisputeOutcome, DonationService, Platform } from "@activity/proto";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { inTransaction } from "../../server/src/database/transaction.ts";
import {
  createPaidDonation,
  createPlatformEvent,
  createReader,
  importDonations,
  unique,
} from "../harness/builders.ts";
import { withProductPool } from "../harness/database.ts";
import type { ActivityJson } from "../harness/json.ts";
import { readPage } from "../harness/pages.ts";
import { useTestStack } from "../harness/stack.ts";

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

const stack = useTestStack();

/** Reads a feed of at most one activity. */
async function readOnly(apiKey: string): Promise<ActivityJson | undefined> {
  const { data } = await readPage(stack, apiKey);
  expect(data.length).toBeLessThanOrEqual(1);
  return data[0];
}

describe("§2.1 an activity in the feed", () => {
  it("of a donation made through the service has every field, and no other", async () => {
    const { accountId, apiKey } = await createReader(stack);
    const donations = stack.client(DonationService);
    const externalId = unique("donation");
    await donations.createDonation({
      accountId,
      externalId,
      amountCents: 1234n,
      currency: "eur",
      donorName: "Zoë 🎉",
      message: 'A "quoted" \\ line\nand \u0000 \u2028 more',
      donatedAt: timestampFromDate(new Date("2024-02-29T12:34:56.789Z")),
    });
    expect(await readOnly(apiKey)).toBeUndefined();
    const { donation } = await donations.payDonation({ accountId, externalId });
    const activity = await readOnly(apiKey);
    expect(activity).toEqual({
      id: `don_${donation?.recordId}`,
      type: "donation",
      platform: "service",
      occurred_at: "2024-02-29T12:34:56.789000Z",
      recorded_at: expect.stringMatching(TIME),
      actor: { name: "Zoë 🎉" },
      message: 'A "quoted" \\ line\nand \u0000 \u2028 more',
      value: 1234,
      unit: "cents",
      currency: "eur",
      refunded_amount_cents: 0,
    });
    expect(activity?.id).toMatch(/^(don|evt)_[a-z0-9]{15}$/);
  });

  it.each([
    ["follow", { case: "follow", value: {} }, 1, 0, "none"],
    ["subscription", { case: "subscription", value: { months: 7n } }, 2, 7, "months"],
    ["giftsub", { case: "giftsub", value: { subscriptions: 5n } }, 1, 5, "subscriptions"],
    ["cheer", { case: "cheer", value: { amount: 100n } }, 1, 100, "bits"],
    ["cheer", { case: "cheer", value: { amount: 100n } }, 4, 100, "diamonds"],
    ["raid", { case: "raid", value: { viewers: 42n } }, 3, 42, "viewers"],
  ] as const)("§2.2 of a %s has its unit and value", async (type, kind, number, value, unit) => {
    const { accountId, apiKey } = await createReader(stack);
    const platform = Platform[`LIVE_PLATFORM_${number}`];
    const recordId = await createPlatformEvent(stack, accountId, { platform, kind });
    const activity = await readOnly(apiKey);
    expect(activity).toEqual({
      id: `evt_${recordId}`,
      type,
      platform: `live_platform_${number}`,
      occurred_at: activity?.recorded_at,
      recorded_at: expect.stringMatching(TIME),
      actor: { name: null },
      message: null,
      value,
      unit,
      currency: null,
      refunded_amount_cents: null,
    });
  });

  it("§2.2 of a platform's paid chat message is a donation with the prefix evt_", async () => {
    const { accountId, apiKey } = await createReader(stack);
    const message = ' "quoted" \\ \u0000 \u2028 💜 ';
    const recordId = await createPlatformEvent(stack, accountId, {
      platform: Platform.LIVE_PLATFORM_3,
      actorName: "",
      message,
      kind: {
        case: "paidChatMessage",
        value: { amountCents: 9_007_199_254_740_991n, currency: "usd" },
      },
    });
    expect(await readOnly(apiKey)).toMatchObject({
      id: `evt_${recordId}`,
      type: "donation",
      platform: "live_platform_3",
      actor: { name: "" },
      message,
      value: 9_007_199_254_740_991,
      unit: "cents",
      currency: "usd",
      refunded_amount_cents: null,
    });
  });

  it("§2.3 of an import carries its source as platform, and the filter by platform finds it", async () => {
    const { accountId, apiKey } = await createReader(stack);
    const sources = ["IMPORT_SOURCE_1", "IMPORT_SOURCE_2", "IMPORT_SOURCE_3", "IMPORT_SOURCE_4"];
    for (const name of [...sources, "CSV"] as "CSV"[]) {
      await importDonations(stack, accountId, 1, Platform[name]);
      const source = name.toLowerCase();
      const { data } = await readPage(stack, apiKey, `?platform=${source}`);
      expect(data).toMatchObject([{ type: "donation", unit: "cents", platform: source }]);
      expect(data[0]?.id).toMatch(/^don_/);
      expect(data[0]?.refunded_amount_cents).toBeNull();
    }
    expect((await readPage(stack, apiKey)).data).toHaveLength(5);
  });
});

describe("§3 what the feed shows", () => {
  it("does not show a donation whose dispute was lost, a deleted one, or a test", async () => {
    const { accountId, apiKey } = await createReader(stack);
    const donations = stack.client(DonationService);
    const lost = await createPaidDonation(stack, accountId);
    const dispute = { accountId, externalId: lost.externalId, disputeExternalId: "dispute" };
    await donations.openDispute(dispute);
    await donations.resolveDispute({ ...dispute, outcome: DisputeOutcome.LOST });
    const deleted = await createPaidDonation(stack, accountId);
    await donations.deleteDonation({ accountId, externalId: deleted.externalId });
    await createPaidDonation(stack, accountId, { test: true });
    await createPlatformEvent(stack, accountId, { test: true });
    expect(await readOnly(apiKey)).toBeUndefined();
  });

  it("§1 is of the key's account alone", async () => {
    const mine = await createReader(stack);
    const other = await createReader(stack);
    await createPlatformEvent(stack, other.accountId);
    expect(await readOnly(mine.apiKey)).toBeUndefined();
  });
});

describe("§4.2 a page", () => {
  it("holds at most 50 activities unless a limit is given, newest first, and says that more exist", async () => {
    const { accountId, apiKey } = await createReader(stack);
    for (let index = 0; index < 51; index++) await createPlatformEvent(stack, accountId);
    const page = await readPage(stack, apiKey);
    expect(page.data).toHaveLength(50);
    expect(page.pagination.has_more).toBe(true);
    const times = page.data.map((activity) => activity.recorded_at);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(new Set(times).size).toBe(50);
    const rest = await readPage(stack, apiKey, `?cursor=${page.pagination.next_cursor}`);
    expect(rest.data).toHaveLength(1);
    expect(rest.pagination.has_more).toBe(false);
    const oldest = await readPage(stack, apiKey, "?order=asc&limit=1");
    expect(oldest.data).toEqual(rest.data);
  });

  it("§2.4 without activities has no cursor, or the one that was sent", async () => {
    const { accountId, apiKey } = await createReader(stack);
    const empty = { data: [], pagination: { has_more: false, next_cursor: null } };
    expect(await readPage(stack, apiKey)).toEqual(empty);
    await createPlatformEvent(stack, accountId);
    const { pagination } = await readPage(stack, apiKey, "?order=asc");
    expect(pagination).toEqual({ has_more: false, next_cursor: expect.any(String) });
    const end = await readPage(stack, apiKey, `?order=asc&cursor=${pagination.next_cursor}`);
    expect(end).toEqual({ data: [], pagination: { ...pagination, has_more: false } });
  });

  it("holds since inclusively and until exclusively, to the microsecond", async () => {
    const { accountId, apiKey } = await createReader(stack);
    await createPlatformEvent(stack, accountId);
    await createPlatformEvent(stack, accountId);
    const [newer, older] = (await readPage(stack, apiKey)).data;
    const ids = async (query: string) =>
      (await readPage(stack, apiKey, query)).data.map(({ id }) => id);
    expect(await ids(`?since=${newer?.recorded_at}`)).toEqual([newer?.id]);
    expect(await ids(`?until=${newer?.recorded_at}`)).toEqual([older?.id]);
    expect(await ids("?since=9999-12-31T23:59:59.999999Z")).toEqual([]);
    expect(await ids("?since=0001-01-01T00:00:00Z&until=9999-12-31T23:59:59Z")).toHaveLength(2);
  });

  it("filters by type, by platform, and by both", async () => {
    const { accountId, apiKey } = await createReader(stack);
    await createPlatformEvent(stack, accountId);
    await createPlatformEvent(stack, accountId, { platform: Platform.LIVE_PLATFORM_2 });
    await createPlatformEvent(stack, accountId, { kind: { case: "raid", value: { viewers: 1n } } });
    const count = async (query: string) => (await readPage(stack, apiKey, query)).data.length;
    expect(await count("?type=follow")).toBe(2);
    expect(await count("?platform=live_platform_1")).toBe(2);
    expect(await count("?type=follow&platform=live_platform_1")).toBe(1);
    expect(await count("?type=raid&platform=live_platform_2")).toBe(0);
  });

  it("is answered while a write has locked its account", async () => {
    const { accountId, apiKey } = await createReader(stack);
    await createPlatformEvent(stack, accountId);
    await withProductPool(stack.database, (pool) =>
      inTransaction(pool, async (writing) => {
        await writing.query("SELECT 1 FROM account WHERE id = ? FOR UPDATE", [accountId]);
        // The reads are parallel, so that one batch also counts the same key several times.
        const pages = await Promise.all(Array.from({ length: 5 }, () => readPage(stack, apiKey)));
        expect(pages.map(({ data }) => data.length)).toEqual([1, 1, 1, 1, 1]);
      }),
    );
  });
});
