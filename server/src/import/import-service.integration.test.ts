import { ImportDonationsRequestSchema, Platform } from "@activity/proto";
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, it } from "vitest";
import { type RowInit, useServices } from "../../../test/harness/services.ts";
import { ErrorCode } from "../common/errors.ts";

const services = useServices();
let accountId: string;
beforeEach(async () => {
  accountId = await services.createAccount();
});

/** Just below the limit of a message, 1 MiB. */
const LARGEST_BYTES = 1_020_000;

const row = (externalId: string, fields: RowInit = {}): RowInit => ({
  externalId,
  amountCents: 500n,
  currency: "eur",
  donorName: "Ada",
  donatedAt: timestampFromMs(1_500_000_000_000),
  ...fields,
});
const rows = (count: number, from = 0) =>
  Array.from({ length: count }, (_, place) => row(`donation ${from + place}`));

describe("an import", () => {
  it("adds its rows to the feed as paid donations of their source, with one time for each batch", async () => {
    const answer = await services.importRows(accountId, Platform.CSV, rows(3), rows(2, 3));
    expect(answer).toMatchObject({ received: 5n, stored: 5n, unchanged: 0n, refused: 0n });
    const feed = await services.readFeed(accountId);
    expect(feed).toHaveLength(5);
    expect(new Set(feed.map((activity) => activity.recorded_at)).size).toBe(2);
    expect(feed[0]).toMatchObject({
      type: 1,
      platform: Platform.CSV,
      unit: 1,
      value: 500,
      occurred_at: 1_500_000_000_000_000,
      currency: "eur",
      refunded_amount_cents: null,
      actor_name: "Ada",
      message: null,
    });
    expect(feed[0]?.record_key).toMatch(/^[a-z0-9]{15}d$/);
  });

  it("stores each row once, within a batch and across batches, and names those that differ from the stored one", async () => {
    const twice = await services.importRows(accountId, Platform.CSV, [
      row("a"),
      row("a", { amountCents: 2n }),
      row("a"),
      row("b"),
    ]);
    expect(twice).toMatchObject({ stored: 2n, unchanged: 2n, refused: 0n, differingRows: [1n] });
    const others: RowInit[] = [
      ...[{ currency: "usd" }, { donorName: "Bob" }, { message: "hi" }],
      { donatedAt: timestampFromMs(1) },
    ];
    const differing = [row("a"), ...others.map((fields) => row("a", fields))];
    expect(await services.importRows(accountId, Platform.CSV, differing)).toMatchObject({
      ...{ stored: 0n, unchanged: 5n },
      differingRows: [1n, 2n, 3n, 4n],
    });
    const again = await services.importRows(
      accountId,
      Platform.CSV,
      [row("b"), row("c")],
      [row("a")],
    );
    expect(again).toMatchObject({ received: 3n, stored: 1n, unchanged: 2n });
    const feed = await services.readFeed(accountId);
    expect(feed.map((activity) => activity.value).sort()).toEqual([500, 500, 500]);
  });

  it("does not restore a deleted donation: its name and message stay erased", async () => {
    await services.importRows(accountId, Platform.CSV, [row("a", { message: "hi" }), row("b")]);
    const key = { accountId, externalId: "a" };
    const unknown = { code: ErrorCode.DonationNotFound };
    await expect(services.donations.deleteDonation(key)).rejects.toMatchObject(unknown);
    await services.donations.deleteDonation({ ...key, platform: Platform.CSV });
    const again = await services.importRows(accountId, Platform.CSV, [row("a"), row("b")]);
    expect(again).toMatchObject({ stored: 0n, unchanged: 2n, differingRows: [] });
    expect(await services.readFeed(accountId)).toHaveLength(1);
    const [stored] = await services.database.query(
      `SELECT d.donor_name, d.message FROM donation d JOIN account a ON a.account_no = d.account_no
       WHERE a.id = ? AND d.external_id = ?`,
      [accountId, Buffer.from("a")],
    );
    expect(stored).toEqual({ donor_name: null, message: null });
  });

  it("distinguishes external ids by every byte, and the same one of two sources", async () => {
    const ids = ["a", "A", "á", "a\u0301", "a ", "a\0", " a"];
    const batch = ids.map((id) => row(id));
    const answer = await services.importRows(accountId, Platform.CSV, batch, batch);
    expect(answer).toMatchObject({ stored: 7n, unchanged: 7n });
    const ofOther = await services.importRows(accountId, Platform.IMPORT_SOURCE_1, batch);
    expect(ofOther).toMatchObject({ stored: 7n });
  });

  it("refuses each bad row with its index and the reason, and stores the others", async () => {
    const bad = [row("x", { currency: "EURO" }), row(""), row("y", { amountCents: -1n })];
    const answer = await services.importRows(accountId, Platform.CSV, rows(2), [
      ...bad,
      row("last"),
    ]);
    expect(answer).toMatchObject({ received: 6n, stored: 3n, unchanged: 0n, refused: 3n });
    const reasons = answer?.refusedRows.map(({ index, externalId, reason }) => [
      index,
      externalId,
      reason.split(" ")[0],
    ]);
    expect(reasons).toEqual([
      [2n, "x", "currency"],
      [3n, "", "external_id"],
      [4n, "y", "amount_cents"],
    ]);
  });

  it.each([
    ["short texts that double when they are escaped", 1_000, "\\", 1_000],
    ["the longest texts", 64, "😀", 4_000],
  ])(
    "takes the largest message of %s in one packet, ADR 0037",
    async (_, count, letter, length) => {
      const message = letter.repeat(length);
      const batch = rows(count).map((fields) => ({ ...fields, message }));
      const step = { case: "rows" as const, value: { rows: batch } };
      const sent = create(ImportDonationsRequestSchema, { step });
      expect(toBinary(ImportDonationsRequestSchema, sent).length).toBeGreaterThan(LARGEST_BYTES);
      expect(await services.importRows(accountId, Platform.CSV, batch)).toMatchObject({
        stored: BigInt(count),
      });
      const feed = await services.readFeed(accountId);
      expect(feed.every((activity) => activity.message === message)).toBe(true);
      expect(new Set(feed.map((activity) => activity.recorded_at)).size).toBe(1);
    },
  );

  it("fails before it stores anything when its opening or first batch is invalid", async () => {
    const run = (platform: Platform, id = accountId) => services.importRows(id, platform, rows(1));
    const invalid = { code: ErrorCode.InvalidParameter };
    await expect(run(Platform.SERVICE)).rejects.toMatchObject(invalid);
    await expect(run(Platform.CSV, "0".repeat(15))).rejects.toMatchObject({
      code: ErrorCode.AccountNotFound,
    });
    const unopened = services.sendImport([{ case: "rows", value: { rows: rows(1) } }]);
    await expect(unopened.next()).rejects.toMatchObject(invalid);
    const empty = services.importRows(accountId, Platform.CSV, []);
    await expect(empty).rejects.toMatchObject(invalid);
    const long = services.importRows(accountId, Platform.CSV, rows(1001));
    await expect(long).rejects.toMatchObject(invalid);
    expect(await services.readFeed(accountId)).toEqual([]);
  });

  it("ends at the batch during which the account is deleted", async () => {
    const { accounts } = services;
    let batches = 0;
    function* steps() {
      yield { case: "opening" as const, value: { accountId, platform: Platform.CSV } };
      for (;;) yield { case: "rows" as const, value: { rows: rows(1, batches++) } };
    }
    const run = async () => {
      for await (const answer of services.sendImport(steps())) {
        if (answer.received === 3n) await accounts.deleteAccount({ accountId });
      }
    };
    await expect(run()).rejects.toMatchObject({ code: ErrorCode.AccountNotFound });
    // The service reads the fifth batch while it refuses the fourth.
    expect(batches).toBeLessThanOrEqual(5);
    expect(await services.readFeed(accountId)).toEqual([]);
  });
});
