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
