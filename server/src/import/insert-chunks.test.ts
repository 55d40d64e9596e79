import { expect, it } from "vitest";
import { insertChunks } from "./insert-chunks.ts";

const donation = (message: string) => ({ donorName: undefined, message });

it("puts ordinary batches into one packet", () => {
  const donations = Array.from({ length: 1000 }, () => donation("x".repeat(1000)));
  expect(insertChunks(donations)).toEqual([donations]);
  expect(insertChunks([])).toEqual([]);
});

it("splits the longest batches, keeping every row and the order", () => {
  const donations = Array.from({ length: 1000 }, (_, row) => donation("😀".repeat(4000) + row));
  const chunks = insertChunks(donations);
  expect(chunks.flat()).toEqual(donations);
  const bytes = chunks.map((chunk) => Buffer.byteLength(chunk.map((row) => row.message).join("")));
  expect(Math.max(...bytes)).toBeLessThan(4_000_000);
  expect(chunks.length).toBeLessThan(10);
});
