import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { findBase } from "./release/base.ts";

/** The most words that a sentence in documents and comments may have. */
const MAX_WORDS = 30;
/** Words and phrases to replace, and their replacements. */
const REPLACED: readonly (readonly [RegExp, string])[] = [
  [/\bunder way\b/i, "in flight"],
  [/\bheld back\b/i, "throttled"],
  [/\bput(?:s|ting)? off\b/i, "reschedule"],
  [/\bhand(?:s|ed|ing)? over\b/i, "dispatch, give"],
  [/\bnudge/i, "notify"],
  [/\blanes?\b/i, "poller"],
  [/\bat most so many\b|\bafter so long\b|\bso many of\b/i, "a number or its name"],
  [/\belsewhere than\b/i, "on any other"],
  [/\bneither asks? who\b|\basks? nobody who\b/i, "is not authenticated"],
  [/\bwhoever\b/i, "the actor's name, or: a client that"],
  [/\bwherefore\b|\bthereof\b|\bthereby\b|\bhereby\b/i, "plain words"],
  [/\banew\b/i, "again, or re- and the verb"],
  [/\bheed(?:s|ed|ing)?\b/i, "use, ignore"],
  [/\bgo(?:es|ing)? on\b/i, "continue"],
  [/\bwhatever\b|\bwherever\b|\bhowever (?:many|long|often)\b/i, "any, or: even if"],
  [/\bgives? back\b/i, "release, return"],
];
/**
 * The most characters of a commit's subject. After its area it must be imperative: "mend", not "mended", "mends" or
 * "mending".
 */
const MAX_SUBJECT = 72;
const AREA = /^[\w, -]+: /;
const NO_ORDER = /^[A-Z]|^\w*[^eb\W]ed\b|^\w{3,}ing\b|^\w*[^su\W]s\b/;
/** The changelog, and files that others wrote or that programs generate. */
const LEFT_OUT =
  /^docs\/source-contract\.md$|^bench\/results\/|^CHANGELOG\.md$|\/gen\/|^proto\/vendor\/|^LICENSE/;

type Line = { readonly number: number; readonly text: string };

const cwd = fileURLToPath(new URL("..", import.meta.url));
const git = (...args: string[]) => execFileSync("git", args, { cwd, encoding: "utf8" }).split("\n");

const files = git("ls-files", "*.md", "*.ts", "*.tsx", "*.proto").filter(
  (file) => file !== "" && !LEFT_OUT.test(file),
);
let found = 0;
for (const file of files) {
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .map((text, at) => ({ number: at + 1, text }));
  const prose = file.endsWith(".md") ? markdownProse(lines) : commentProse(lines);
  for (const paragraph of prose) check(file, paragraph);
}
// Turns off a user's log.showSignature, which would add lines that are no subjects.
const subjects = ["log", "--no-merges", "--no-show-signature", "--format=%s"];
for (const subject of git(...subjects, `${findBase().commit}..HEAD`)) {
  const place = `commit “${subject}”`;
  if (subject.length > MAX_SUBJECT)
    report(place, `${subject.length} characters: at most ${MAX_SUBJECT}`);
  if (NO_ORDER.test(subject.replace(AREA, ""))) report(place, "write an order: mend, add, remove");
}
if (found > 0) {
  console.error(`${found} sentences to rewrite: docs, comments and commits are plain English.`);
  process.exitCode = 1;
}

function check(file: string, paragraph: readonly Line[]): void {
  const text = paragraph
    .map((line) => line.text)
    .join(" ")
    .replaceAll("**", "");
  const place = `${file}:${paragraph[0]?.number}`;
  for (const sentence of text.split(/(?<=[.:;!?])\s+(?=[A-Z`"([0-9-])|\s\|\s|;\s/)) {
    const words = sentence.replaceAll(/`[^`]*`|\[([^\]]*)\]\([^)]*\)/g, " $1x ").split(/\s+/);
    const count = words.filter((word) => /\w/.test(word)).length;
    if (count > MAX_WORDS) report(place, `${count} words: ${sentence.slice(0, 70)}…`);
  }
  for (const [phrase, better] of REPLACED) {
    const match = phrase.exec(text.replaceAll(/`[^`]*`/g, ""));
    if (match) report(place, `“${match[0]}”: ${better}`);
  }
}

function report(place: string, problem: string): void {
  found += 1;
  console.error(`${place} ${problem}`);
}

/** Returns the paragraphs, list items and table rows outside of code blocks. */
function markdownProse(lines: readonly Line[]): Line[][] {
  let isCode = false;
  return grouped(lines, ({ text }) => {
    if (text.trimStart().startsWith("```")) isCode = !isCode;
    return isCode || text.trim() === "" || text.trimStart().startsWith("```")
      ? "end"
      : /^\s*(?:[-|#>]|\d+\. )/.test(text)
        ? "begin"
        : "go on";
  });
}

/** Returns the comments without their marks. */
function commentProse(lines: readonly Line[]): Line[][] {
  const comments = lines.map(({ number, text }) => {
    const match = /^\s*(?:\/\/+|\/\*\*?|\*(?!\/))\s?(.*?)(?:\*\/)?$/.exec(text);
    return { number, text: match?.[1]?.trim() ?? "" };
  });
  return grouped(comments, ({ text }) =>
    text === "" ? "end" : /^(?:- |@)/.test(text) ? "begin" : "go on",
  );
}

function grouped(
  lines: readonly Line[],
  kind: (line: Line) => "begin" | "go on" | "end",
): Line[][] {
  const groups: Line[][] = [];
  let open: Line[] = [];
  for (const line of lines) {
    const its = kind(line);
    if (its !== "go on" && open.length > 0) {
      groups.push(open);
      open = [];
    }
    if (its !== "end") open.push(line);
  }
  if (open.length > 0) groups.push(open);
  return groups;
}
