import { expect, it } from "vitest";
import { accountNoOf, createIdsAt, isId, leastIdAt, newId } from "./ids.ts";

it("makes ids of 15 characters a-z and 0-9, each equally likely", () => {
  const ids = Array.from({ length: 20_000 }, newId);
  expect(ids.every((id) => /^[a-z0-9]{15}$/.test(id) && isId(id))).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  const counts = new Map<string, number>();
  for (const character of ids.join("")) counts.set(character, (counts.get(character) ?? 0) + 1);
  const expected = (ids.length * 15) / 36;
  for (const count of counts.values()) expect(Math.abs(count / expected - 1)).toBeLessThan(0.1);
});

it("§2.1 makes unique ids in the order of their times, to the microsecond", () => {
  const micros = 1_790_000_000_000_000;
  const ids = [micros - 1, micros, micros + 1].map((time) =>
    Array.from({ length: 1_000 }, createIdsAt(time)),
  );
  expect(ids.flat().every((id) => /^[a-z0-9]{15}$/.test(id) && isId(id))).toBe(true);
  expect(new Set(ids.flat()).size).toBe(3_000);
  const [before = [], at = [], after = []] = ids.map((same) => same.toSorted());
  expect((before.at(-1) ?? "") < leastIdAt(micros)).toBe(true);
  expect(leastIdAt(micros) <= (at[0] ?? "")).toBe(true);
  expect((at.at(-1) ?? "") < leastIdAt(micros + 1)).toBe(true);
  expect(leastIdAt(micros + 1) <= (after[0] ?? "")).toBe(true);
});

it("finds a least id for every time that a caller can name, also far from the times of ids", () => {
  const id = createIdsAt(1_790_000_000_000_000)();
  const times = [-62_135_596_800_000_000n, 0, 3_700_000_000_000_000, 253_402_300_799_999_999n];
  expect(times.map((time) => isId(leastIdAt(time)))).toEqual([true, true, true, true]);
  expect(times.map((time) => leastIdAt(time) < id)).toEqual([true, true, false, false]);
});

it("gives an account the time in its id as its number, and other texts no number", () => {
  const micros = 1_790_000_000_000_000;
  expect(accountNoOf(createIdsAt(micros)())).toBe(micros);
  // Even the greatest id's number is exact in JavaScript, and so in the database.
  expect(Number.isSafeInteger(accountNoOf("z".repeat(15)))).toBe(true);
  for (const text of ["", "abc", "A".repeat(15), "é".repeat(15), "a".repeat(16)]) {
    expect(accountNoOf(text)).toBeUndefined();
  }
});
