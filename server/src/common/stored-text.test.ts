import fc from "fast-check";
import { expect, it } from "vitest";
import { externalIdBytes, hasAtMost, parseStoredText } from "./stored-text.ts";

it("accepts every well-formed text unchanged, and no other", () => {
  const units = fc.array(fc.nat(0xffff), { maxLength: 50 });
  fc.assert(
    fc.property(units, (codes) => {
      const text = String.fromCharCode(...codes);
      if (text.isWellFormed()) {
        expect(parseStoredText(text, "name")).toBe(text);
        expect(externalIdBytes(text, "external_id").toString("utf8")).toBe(text);
      } else {
        expect(() => parseStoredText(text, "name")).toThrow(/^name accepts well-formed Unicode/);
      }
    }),
  );
});

it("counts characters as the database does", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), fc.nat(60), (text, max) => {
      expect(hasAtMost(text, max)).toBe([...text].length <= max);
    }),
  );
});
