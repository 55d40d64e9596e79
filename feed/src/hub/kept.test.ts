import { expect, it } from "vitest";
import { createRecord } from "../testing/test-api.ts";
import { createKept } from "./kept.ts";

it("keeps the last 1,000 records, and returns those after each", () => {
  const kept = createKept();
  expect(kept.position()).toBe("0");
  for (let number = 1; number <= 1_500; number += 1) kept.add(createRecord(number));
  const numbersAfter = (id: string) => kept.after(id).map((record) => Number(record.id.slice(4)));
  expect(numbersAfter(createRecord(1_498).id)).toEqual([1_499, 1_500]);
  expect(numbersAfter(kept.position())).toEqual([]);
  expect(numbersAfter(createRecord(500).id)).toHaveLength(1_000);
  expect(numbersAfter("0")[0]).toBe(501);
});

it("keeps at most 512 KiB, so that a listener gets all kept records at once", () => {
  const kept = createKept();
  const message = "€".repeat(4_000);
  for (let number = 1; number <= 1_000; number += 1) kept.add({ ...createRecord(number), message });
  const records = kept.after("0");
  expect(records.at(-1)?.id).toBe(createRecord(1_000).id);
  const bytes = Buffer.byteLength(records.map((record) => JSON.stringify(record)).join(""));
  expect(bytes).toBeLessThanOrEqual(512 * 1024);
  expect(bytes).toBeGreaterThan(490 * 1024);
});
