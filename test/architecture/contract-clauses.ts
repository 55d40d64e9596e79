import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT, readText } from "./import-rule.ts";

/** A clause of docs/source-contract.md: a paragraph, a rule of a list, or a row of a table. */
export type Clause = {
  /** The heading above the clause, with its `#` marks. */
  readonly heading: string;
  /** A rule without its dash. A row as its cells, separated by spaces. */
  readonly text: string;
};

/** A row of docs/contract-tests.md. */
export type HeldClause = {
  readonly heading: string;
  /** The clause's first words. For several clauses, the first words of the first and the last: `a … b`. */
  readonly begins: string;
  /** The tests that hold the clause. Empty if no test can. */
  readonly tests: readonly NamedTest[];
  /** Why no test holds it. */
  readonly told: string | undefined;
};

/** A test: its file and part of its name. */
export type NamedTest = { readonly file: string; readonly name: string };

/** Written in place of a file if no test can hold the clause. */
const TOLD = "told";
const HEADING = /^#{2,3} /;
const RULE = /^(?:- |(?=\d+\. ))/;
const TABLE_LINE = /^\|.*\|$/;
const BELOW_TABLE_HEAD = /^\|[ :|-]+\|$/;
/** The title of a test or group that is not skipped: a string before a function, with or without options between. */
const TITLE =
  /(?<!\.(?:skip|todo|fails))\(\s*(["`])((?:\\.|(?!\1)[^\\])*)\1,\s*(?:[\w.{}: ]+,\s*)?(?:async\s*)?(?:\(|\w+ =>)/g;

/** Lists the clauses of the contract, in their order. */
export function readClauses(): Clause[] {
  return linesOf("docs/source-contract.md").map(({ heading, line }) => ({
    heading,
    text: textOf(line),
  }));
}

/** Lists the rows of the table. A row without a clause adds a test to the row above. */
export function readHeldClauses(): HeldClause[] {
  const held: HeldClause[] = [];
  for (const { heading, line } of linesOf("docs/contract-tests.md")) {
    if (!TABLE_LINE.test(line)) continue;
    const [begins = "", file = "", name = ""] = cellsOf(line);
    const isTold = file === TOLD;
    const tests = isTold ? [] : [{ file: file.replaceAll("`", ""), name }];
    const above = held.at(-1);
    if (begins === "" && above?.heading === heading) {
      held.splice(-1, 1, { ...above, tests: [...above.tests, ...tests] });
    } else held.push({ heading, begins, tests, told: isTold ? name : undefined });
  }
  return held;
}

/** Lists the headings of a document below its title. */
export function headingsOf(file: string): string[] {
  return readText(file)
    .split("\n")
    .filter((line) => HEADING.test(line));
}

/** Returns the clauses that a row covers. Empty if its words match no clause or several. */
export function clausesOf({ heading, begins }: HeldClause, clauses: readonly Clause[]): Clause[] {
  const inPart = clauses.filter((clause) => clause.heading === heading);
  const [first = "", last = first] = begins.split(" … ");
  const beginningWith = (text: string) => {
    const [only, ...more] = inPart.filter((clause) => clause.text.startsWith(text));
    return text !== "" && only !== undefined && more.length === 0 ? inPart.indexOf(only) : -1;
  };
  const [from, to] = [beginningWith(first), beginningWith(last)];
  return from < 0 || to < 0 ? [] : inPart.slice(from, to + 1);
}

/** Tells whether one of our test files has a test or group with these words in its name. */
export function hasTest({ file, name }: NamedTest): boolean {
  if (name === "" || !file.endsWith(".test.ts") || !existsSync(join(ROOT, file))) return false;
  const text = readText(file).replaceAll(/^\s*\/\/.*$/gm, "");
  return [...text.matchAll(TITLE)].some(([, , title = ""]) => title.includes(name));
}

/** The clauses of a document, each with the heading above it. Leaves out titles, table heads and notes (`>`). */
function linesOf(file: string): { heading: string; line: string }[] {
  const lines = readText(file).split("\n");
  let heading = "";
  return lines.flatMap((line, index) => {
    if (HEADING.test(line)) heading = line;
    const isTableHead =
      BELOW_TABLE_HEAD.test(line) || BELOW_TABLE_HEAD.test(lines[index + 1] ?? "");
    return line === "" || /^[#>]/.test(line) || isTableHead ? [] : [{ heading, line }];
  });
}

function textOf(line: string): string {
  return TABLE_LINE.test(line) ? cellsOf(line).join(" ") : line.replace(RULE, "");
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
}
