import { DonationService } from "@activity/proto";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import {
  createPaidDonation,
  createPlatformEvent,
  createReader,
  unique,
} from "../harness/builders.ts";
import { readAll, readPage } from "../harness/pages.ts";
import { useTestStack } from "../harness/stack.ts";

const stack = useTestStack();

const LOW = "a".repeat(15);
const HIGH = "b".repeat(15);
/** Records in ascending order: `d` is a donation, `e` a platform event. The test writes these times, as no call can. */
const ASCENDING = [
  { recordedAt: 1_700_000_000_000_000, recordId: HIGH, source: "e" },
  { recordedAt: 1_700_000_000_000_001, recordId: LOW, source: "e" },
  { recordedAt: 1_700_000_000_000_001, recordId: HIGH, source: "d" },
  { recordedAt: 1_700_000_000_000_001, recordId: HIGH, source: "e" },
  { recordedAt: 1_700_000_000_000_002, recordId: LOW, source: "d" },
] as const;
const PREFIXES = { d: "don_", e: "evt_" };
const IDS = ASCENDING.map(({ recordId, source }) => PREFIXES[source] + recordId);

it("§4.2 order sorts by recorded_at, then internal record id, then source, in one page and over pages of one", async () => {
  const { accountId, apiKey } = await createReader(stack);
  const money = { amountCents: 500n, currency: "eur" };
  const kind = { case: "paidChatMessage", value: money } as const;
  // Stores the records in reverse, so that the order of storage differs from the expected order.
  for (const { recordedAt, recordId, source } of ASCENDING.toReversed()) {
    const written =
      source === "d"
        ? (await createPaidDonation(stack, accountId)).recordId
        : await createPlatformEvent(stack, accountId, { kind });
    await stack.database.query(
      "UPDATE activity SET recorded_at = ?, record_key = ? WHERE record_key = ?",
      [recordedAt, `${recordId}${source}`, `${written}${source}`],
    );
  }
  for (const order of ["asc", "desc"]) {
    const feeds = [
      (await readPage(stack, apiKey, `?order=${order}`)).data,
      // Reads pages of one activity, so that each place is a cursor once.
      await readAll(stack, apiKey, `order=${order}`),
      await readAll(stack, apiKey, `order=${order}&type=donation`),
    ];
    for (const feed of feeds) {
      expect(feed.map(({ id }) => id)).toEqual(order === "asc" ? IDS : IDS.toReversed());
    }
  }
});

/** When the records occurred. A record that is stored later occurred earlier. */
const OCCURRED = ["2026-03-01", "2024-02-29", "1999-12-31", "0001-01-01"];

it("§4.4 pagination, since and until go by recorded_at, not by occurred_at, and an export holds each record once, with any page size", async () => {
  const { accountId, apiKey } = await createReader(stack);
  const donations = stack.client(DonationService);
  for (const date of OCCURRED) {
    const key = { accountId, externalId: unique("donation") };
    const donatedAt = timestampFromDate(new Date(`${date}T00:00:00Z`));
    await donations.createDonation({ ...key, amountCents: 1n, currency: "eur", donatedAt });
    await donations.payDonation(key);
  }
  // A platform event occurs when it is stored, so it comes last by `recorded_at` and by `occurred_at`.
  await createPlatformEvent(stack, accountId);
  const read = (query: string) => readAll(stack, apiKey, query);
  const all = await read("order=asc");
  expect(all.slice(0, -1).map(({ occurred_at }) => occurred_at.slice(0, 10))).toEqual(OCCURRED);
  const recorded = all.map(({ recorded_at }) => recorded_at);
  expect(recorded).toEqual(recorded.toSorted());
  expect(await read("order=desc")).toEqual(all.toReversed());
  expect(await read("order=asc&type=donation")).toEqual(all.slice(0, -1));
  expect(await read("order=asc&platform=service")).toEqual(all.slice(0, -1));
  expect(await read(`order=asc&since=${recorded[1]}`)).toEqual(all.slice(1));
  expect(await read(`order=asc&until=${recorded[2]}`)).toEqual(all.slice(0, 2));
  expect(await read("order=asc&until=2025-01-01T00:00:00Z")).toEqual([]);
  const fixed = `order=asc&since=${recorded[0]}&until=2100-01-01T00:00:00Z`;
  for (const limits of [[1], [4], [5], [6], [100], [1, 3]]) {
    expect(await readAll(stack, apiKey, fixed, limits)).toEqual(all);
  }
});
