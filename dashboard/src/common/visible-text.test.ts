import { expect, it } from "vitest";
import { visibleText } from "./visible-text.ts";

it("escapes bidirectional and invisible characters, and keeps the JSON's value", () => {
  const value = { name: "a\u202eb\u200bc\u2066d\u{e0041}e\u0007", text: "zwölf 🎉\nlines\t" };
  const shown = visibleText(JSON.stringify(value, undefined, 2));
  expect(shown).toContain("a\\u202eb\\u200bc\\u2066d\\udb40\\udc41e\\u0007");
  expect(shown).toContain("zwölf 🎉");
  expect(JSON.parse(shown)).toEqual(value);
});

it("leaves lines and indentation as they are", () => {
  expect(visibleText("a\n\tb  c")).toBe("a\n\tb  c");
});
