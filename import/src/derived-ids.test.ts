import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDerivedIds } from "./derived-ids.ts";

describe("ids of rows without one", () => {
  it("are the same in every import, and different for every row", () => {
    const meaning = fc.tuple(fc.constantFrom("1", "2"), fc.option(fc.string({ maxLength: 1 })));
    fc.assert(
      fc.property(fc.array(meaning), (rows) => {
        const idsOf = () => {
          const ids = createDerivedIds();
          return rows.map(([amount, name]) => ids.next([amount, name ?? undefined]));
        };
        expect(idsOf()).toEqual(idsOf());
        expect(new Set(idsOf()).size).toBe(rows.length);
      }),
    );
  });

  it("do not depend on rows that say something else", () => {
    const [some, others] = [createDerivedIds(), createDerivedIds()];
    others.next(["other"]);
    expect(others.next(["one"])).toBe(some.next(["one"]));
  });

  it("stay exact however many there are", () => {
    const ids = createDerivedIds();
    const first = Array.from({ length: 20_000 }, (_, row) => ids.next([row]));
    const second = Array.from({ length: 20_000 }, (_, row) => ids.next([row]));
    expect(new Set([...first, ...second]).size).toBe(40_000);
    expect(second).toEqual(first.map((id) => id.replace(/-1$/, "-2")));
  });
});
