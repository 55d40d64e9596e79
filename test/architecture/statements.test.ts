import { expect, it } from "vitest";
import { productFiles, readText } from "./import-rule.ts";

const HELPER = "server/src/database/packet.ts";

const filesWith = (pattern: RegExp) =>
  productFiles("server/src", "gateway/src", "workflows/src", "tools", "dev-stack").filter((file) =>
    pattern.test(readText(file)),
  );

it("opens connections that take several statements at once in one file only", () => {
  expect(filesWith(/multipleStatements/)).toEqual([HELPER]);
});

it("escapes values in the same file only: all other statements have separate values", () => {
  expect(
    filesWith(/import[^;]*\b(format|escape|escapeId|raw|SqlString)\b[^;]*from "mysql2/),
  ).toEqual([HELPER]);
});

/** Finds calls of `execute`. The group has the arguments. */
const EXECUTED = /\.execute(?:<[^(]*>)?\(([\s\S]*?)\);/g;

it("ADR 0048: sends the numbers of prepared statements as integers, because a vtgate finds shards by them", () => {
  const calls = productFiles("server/src").flatMap((file) =>
    Array.from(readText(file).matchAll(EXECUTED), ([, text = ""]) => ({ file, text })),
  );
  expect(calls.length).toBeGreaterThan(0);
  const withoutType = calls.filter(
    ({ text }) => /\?|values/.test(text) && !text.includes("prepared("),
  );
  expect(withoutType).toEqual([]);
});
