import { Platform } from "@activity/proto";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { unique } from "../../../test/harness/builders.ts";
import { useServices } from "../../../test/harness/services.ts";
import type { ActivityRow } from "../activity/activity-store.ts";
import { timestampFromMicros } from "../common/timestamps.ts";

const services = useServices();
let accountId: string;
beforeAll(async () => {
  accountId = await services.createAccount();
});

const RUNS = { numRuns: 150 };
const donatedAt = timestampFromMs(1_600_000_000_000);

/** Characters that escaping, collations and encodings often get wrong. */
const NASTY = [..."\0\\'\"\n\u001a%_?😀ßı\u0301\u202e\ufeff\u{10ffff}\ufffd", "👩‍👩‍👧", "שלום"];
const text = (maxLength: number) =>
  fc.oneof(
    fc.string({ unit: "binary", maxLength }),
    fc.string({ unit: fc.constantFrom(...NASTY), maxLength: 20 }),
  );

const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER);
const amount = fc.oneof(
  fc.constantFrom(0n, 1n, 2n ** 31n, 2n ** 32n, 2n ** 53n - 2n, SAFE_MAX),
  fc.bigInt(0n, SAFE_MAX),
);

/** Whole microseconds from year 0001 to year 9999. */
const timestamp = fc.oneof(
  fc.constantFrom(-62_135_596_800_000_000n, 253_402_300_799_999_999n, -1n, 0n),
  fc.bigInt(-62_135_596_800_000_000n, 253_402_300_799_999_999n),
);

async function rowOf(recordKey: string): Promise<ActivityRow | undefined> {
  const columns = "occurred_at, recorded_at, value, actor_name, message";
  const rows = await services.database.query<ActivityRow>(
    `SELECT ${columns} FROM activity WHERE record_key = ?`,
    [recordKey],
  );
  return rows[0];
}

async function payDonation(
  fields: { amountCents?: bigint; donorName?: string; message?: string; donatedAt?: Timestamp },
  externalId = unique("donation"),
) {
  const key = { accountId, externalId };
  const required = { amountCents: 1n, currency: "eur", donatedAt };
  await services.donations.createDonation({ ...key, ...required, ...fields });
  const { donation } = await services.donations.payDonation(key);
  return { donation, row: await rowOf(`${donation?.recordId}d`) };
}

const fields = fc.record({
  amountCents: amount,
  donorName: text(200),
  message: text(1000),
  donatedAt: timestamp.map(timestampFromMicros),
});

it("stores names and messages, amounts and dates of donations exactly, and distinguishes absent from empty", async () => {
  const absent = await payDonation({});
  expect(absent.row).toMatchObject({ actor_name: null, message: null });
  await fc.assert(
    fc.asyncProperty(fields, async ({ amountCents, donorName, message, donatedAt: date }) => {
      const stated = { amountCents, donorName, message, donatedAt: date };
      const { donation, row } = await payDonation(stated);
      expect(donation?.amountCents).toBe(amountCents);
      expect(row).toMatchObject({ value: Number(amountCents), actor_name: donorName, message });
      expect(timestampFromMicros(row?.occurred_at ?? row?.recorded_at ?? 0)).toEqual(date);
    }),
    RUNS,
  );
});

it("imports every amount, text and time exactly", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fields, { minLength: 1, maxLength: 20 }), async (rows) => {
      const importer = await services.createAccount();
      const batch = rows.map((row, place) => ({ externalId: `${place}`, currency: "eur", ...row }));
      const answer = await services.importRows(importer, Platform.CSV, batch);
      expect(answer?.stored).toBe(BigInt(rows.length));
      const stored = (await services.readFeed(importer)).map((activity) => ({
        amountCents: BigInt(activity.value),
        donorName: activity.actor_name,
        message: activity.message,
        donatedAt: timestampFromMicros(activity.occurred_at ?? activity.recorded_at),
      }));
      expect(stored).toHaveLength(rows.length);
      expect(stored).toEqual(expect.arrayContaining(rows));
    }),
    { numRuns: 50 },
  );
});
