import { describe, expect, it } from "vitest";
import { batchesOf } from "./batches.ts";
import { createDerivedIds } from "./derived-ids.ts";
import { readDonation } from "./donation-row.ts";

const RULES = {
  ...{ columns: { amount: 0, date: 1, message: 2, id: 3 }, width: 4, line: undefined },
  ...{ currency: "eur", dateOrder: undefined, timeZone: undefined },
};
const MAX_MESSAGE_BYTES = 1024 * 1024;

function read(message: string, id = "") {
  const cells = ["5.00", "2024-01-31T12:05:59Z", message, id];
  const mark = { isKnown: true, mark: undefined } as const;
  return readDonation(cells, RULES, mark, createDerivedIds());
}

async function batchSizes(messages: readonly string[]) {
  async function* donations() {
    for (const [line, message] of messages.entries()) {
      const donation = read(message);
      if (!donation?.ok) throw new Error("The row is refused.");
      yield { donation: donation.value, row: { line, cells: [] } };
    }
  }
  const sizes: { rows: number; bytes: number }[] = [];
  for await (const { donations: sent, rows } of batchesOf(donations())) {
    const bytes = Buffer.byteLength(sent.map(({ message }) => message).join(""));
    sizes.push({ rows: rows.length, bytes });
  }
  return sizes;
}

describe("batches of rows", () => {
  it.each(["я", "寿", "👩"])("fit into a message of the core when the text is %s", async (text) => {
    const sizes = await batchSizes(Array.from({ length: 1_000 }, () => text.repeat(900)));
    expect(Math.max(...sizes.map(({ bytes }) => bytes))).toBeLessThan(MAX_MESSAGE_BYTES);
    expect(sizes.reduce((sum, { rows }) => sum + rows, 0)).toBe(1_000);
  });

  it("end before a long row that no longer fits", async () => {
    const sizes = await batchSizes(["x".repeat(800_000), "x".repeat(800_000), "x"]);
    expect(sizes.map(({ rows }) => rows)).toEqual([1, 2]);
  });

  it.each([
    ["message", read("寿".repeat(350_000))],
    ["id", read("", "x".repeat(950_000))],
  ])("take no row whose %s alone is too long", (_field, donation) => {
    expect(donation).toMatchObject({ ok: false, reason: expect.stringContaining("4000") });
  });
});
