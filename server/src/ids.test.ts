import { expect, it } from "vitest";
import { isId, newId } from "./ids.ts";

it("§2.1 makes ids of 15 characters a-z and 0-9, all of them equally likely", () => {
  const ids = Array.from({ length: 20_000 }, newId);
  expect(ids.every((id) => /^[a-z0-9]{15}$/.test(id) && isId(id))).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  const counts = new Map<string, number>();
  for (const character of ids.join("")) counts.set(character, (counts.get(character) ?? 0) + 1);
  const expected = (ids.length * 15) / 36;
  for (const count of counts.values()) expect(Math.abs(count / expected - 1)).toBeLessThan(0.1);
});
