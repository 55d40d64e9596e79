import { describe, expect, it } from "vitest";
import { checkImportRow, type ReceivedRow } from "./import-row.ts";

const time = (seconds: bigint, nanos = 0) =>
  ({ $typeName: "google.protobuf.Timestamp", seconds, nanos }) as const;

const ROW: ReceivedRow = {
  externalId: "1",
  amountCents: 500n,
  currency: "eur",
  donorName: "Ada",
  message: "hi",
  donatedAt: time(1_600_000_000n),
};

const LARGEST = BigInt(Number.MAX_SAFE_INTEGER);

describe("a row of an import", () => {
  it.each<[string, Partial<ReceivedRow>]>([
    ["external_id", { externalId: "" }],
    ["external_id", { externalId: "x".repeat(129) }],
    ["external_id", { externalId: "\ud800" }],
    ["amount_cents", { amountCents: -1n }],
    ["amount_cents", { amountCents: LARGEST + 1n }],
    ["amount_cents", { amountCents: 2n ** 63n - 1n }],
    ["currency", { currency: "" }],
    ["currency", { currency: "EUR" }],
    ["currency", { currency: "eur\n" }],
    ["donor_name", { donorName: "😀".repeat(201) }],
    ["donor_name", { donorName: "a\udfff" }],
    ["message", { message: "x".repeat(4001) }],
    ["message", { message: "\ud83d" }],
    ["donated_at", { donatedAt: undefined }],
    ["donated_at", { donatedAt: time(0n, 1) }],
    ["donated_at", { donatedAt: time(-62_135_596_801n) }],
    ["donated_at", { donatedAt: time(253_402_300_800n) }],
  ])("is refused with a sentence that names %s for %o", (field, change) => {
    const outcome = checkImportRow({ ...ROW, ...change });
    expect(outcome.kind).toBe("refused");
    expect(outcome).toHaveProperty(
      "reason",
      expect.stringMatching(`^${field} (accepts|is) .*\\.$`),
    );
  });

  it.each<[string, Partial<ReceivedRow>]>([
    ["no name and message", { donorName: undefined, message: undefined }],
    ["an empty name and message", { donorName: "", message: "" }],
    ["the longest texts", { donorName: "😀".repeat(200), message: "😀".repeat(4000) }],
    ["NUL in its texts", { externalId: "\0", donorName: "\0", message: "\0" }],
    ["the largest amount", { amountCents: LARGEST }],
    ["no amount", { amountCents: 0n }],
    ["the first moment", { donatedAt: time(-62_135_596_800n) }],
    ["the last moment", { donatedAt: time(253_402_300_799n, 999_999_000) }],
  ])("is accepted with %s", (_, change) => {
    expect(checkImportRow({ ...ROW, ...change }).kind).toBe("accepted");
  });
});
