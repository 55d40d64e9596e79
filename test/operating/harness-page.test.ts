import { expect, it } from "vitest";
import { isShown } from "./harness-page.ts";

it.each([
  ["one\ntwo\n", "one\ntwo\n", true],
  ["one 17 two", "one … two", true],
  ["a\nb\nc", "a\n…\nc", true],
  ['{"a":[1]}200', '{"a":[…]}200', true],
  ["one\ntwo", "one", false],
  ["one", "one\ntwo", false],
  ["one\ntwo", "one…", false],
  ["axb", "a.b", false],
  ["anything", "", false],
])("a page's test compares %j with %j: %j", (output, shown, is) => {
  expect(isShown(output, shown)).toBe(is);
});
