import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT, readText } from "./import-rule.ts";

/** docs/contract-tests.md has this word instead of a file name if no test can check the clause. */
const TOLD = "told";
const TABLE_HEAD = /^\|.*\|\n\|[ :|-]+\|\n/gm;
/** The title of a test or group that is not skipped: a string before a function, with or without options between. */
const TITLE =
  /(?<!\.(?:skip|todo|fails))\(\s*(["`])((?:\\.|(?!\1)[^\\])*)\1,\s*(?:[\w.{}: ]+,\s*)?(?:async\s*)?(?:\(|\w+ =>)/g;

/** Splits a document into parts: a heading, and the lines below it without notes (`>`) and table heads. */
function partsOf(file: string) {
  const parts = readText(file)
    .replaceAll(TABLE_HEAD, "")
    .split(/^(?=#{2,3} )/m);
  return parts.map((part) => {
    const lines = part.split("\n").filter((line) => line !== "" && !/^[#>]/.test(line));
    return { heading: /^#{2,3} .*/.exec(part)?.[0], lines };
  });
}

function cellsOf(row: string): string[] {
  const cells = row.slice(1, -1).split(/(?<!\\)\|/);
  return cells.map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** Returns a list's items. `- clause` begins an item, and each line `  - \`file\`: name; name` below it names tests. */
function itemsOf(lines: readonly string[]) {
  const items: { clause: string; tests: { file: string; name: string }[] }[] = [];
  for (const line of lines) {
    if (line.startsWith("- ")) items.push({ clause: line.slice(2), tests: [] });
    if (!line.startsWith("  ")) continue;
    const [, file = "", names = ""] = /^ {2}- `?([^`:]+)`?: (.+)$/.exec(line) ?? [];
    items.at(-1)?.tests.push(...names.split("; ").map((name) => ({ file, name })));
  }
  return items;
}

/** Returns a line as a clause: the cells of a table row, or the line without the dash of a list. */
const clauseOf = (line: string) =>
  line.startsWith("|") ? cellsOf(line).join(" ") : line.replace(/^- /, "");

/** Tells whether one of our test files has a test or group with these words in its name. */
function hasTest(file: string, name: string): boolean {
  if (name === "" || !file.endsWith(".test.ts") || !existsSync(join(ROOT, file))) return false;
  const text = readText(file).replaceAll(/^\s*\/\/.*$/gm, "");
  return [...text.matchAll(TITLE)].some(([, , title = ""]) => title.includes(name));
}

it("docs/contract-tests.md names existing tests of every clause of docs/source-contract.md, in its order", () => {
  const held = partsOf("docs/contract-tests.md");
  const contract = partsOf("docs/source-contract.md");
  expect(held.map(({ heading }) => heading)).toEqual(contract.map(({ heading }) => heading));
  const wrong: string[] = [];
  let [clauses, told] = [0, 0];
  for (const [place, { lines }] of contract.entries()) {
    const left = lines.map(clauseOf);
    clauses += left.length;
    for (const { clause, tests } of itemsOf(held[place]?.lines ?? [])) {
      const [first = "", last = first] = clause.split(" … ");
      const isNext = left[0]?.startsWith(first) === true;
      const covered = isNext ? left.findIndex((text) => text.startsWith(last)) + 1 : 0;
      left.splice(0, covered);
      if (covered === 0) wrong.push(`${clause}: these words do not begin the next clause`);
      if (tests.length === 0) wrong.push(`${clause}: no test holds it`);
      for (const { file, name } of tests) {
        if (file === TOLD) told += covered;
        if (file === TOLD ? name === "" : !hasTest(file, name)) {
          wrong.push(`${file}: there is no ${name}`);
        }
      }
    }
    wrong.push(...left.map((clause) => `no item has ${clause.slice(0, 60)}`));
  }
  expect(wrong).toEqual([]);
  expect(clauses).toBeGreaterThan(150);
  expect(told).toBeLessThan(clauses / 20);
});
