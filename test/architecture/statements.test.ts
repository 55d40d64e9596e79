import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isTest, ROOT, sourceFiles } from "./import-rule.ts";

const HELPER = "server/src/database/packet.ts";

const filesWith = (pattern: RegExp) =>
  ["server/src", "gateway/src", "workflows/src", "tools", "dev-stack"]
    .flatMap(sourceFiles)
    .filter((file) => !isTest(file) && pattern.test(readFileSync(join(ROOT, file), "utf8")));

it("opens connections that take several statements at once in one file only", () => {
  expect(filesWith(/multipleStatements/)).toEqual([HELPER]);
});

it("escapes values in the same file only: everywhere else they stand beside their statement", () => {
  expect(
    filesWith(/import[^;]*\b(format|escape|escapeId|raw|SqlString)\b[^;]*from "mysql2/),
  ).toEqual([HELPER]);
});

/** The arguments of the call, up to the end of the statement. */
const EXECUTED = /\.execute(?:<[^(]*>)?\(([\s\S]*?)\);/g;

const calls = sourceFiles("server/src")
  .filter((file) => !isTest(file))
  .flatMap((file) =>
    Array.from(readFileSync(join(ROOT, file), "utf8").matchAll(EXECUTED), ([, text = ""]) => ({
      file,
      text,
    })),
  );

it("sends the numbers of every prepared statement as integers: a vtgate finds shards by them, ADR 0048", () => {
  expect(calls.length).toBeGreaterThan(0);
  const withoutType = calls.filter(
    ({ text }) => /\?|values/.test(text) && !text.includes("prepared("),
  );
  expect(withoutType).toEqual([]);
});
