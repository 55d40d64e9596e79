import { execFileSync } from "node:child_process";

// Prints the lines of code and the words of documents that each named commit has; HEAD's if none is named.

const PACKAGE = /^(server|gateway|workflows|dashboard|receiver-kit|feed|import|runtime|proto)\//;
/** Files of a package that test, measure or build it. */
const AROUND = /(^|\/)(tests?|testing|bench|scripts)\/|harness|fuzz|\.test\.|vitest\.config/;
const CODE = /\.(ts|tsx|mjs|js)$/;
const GENERATED = /^proto\/src\/gen\//;

const commits = process.argv.length > 2 ? process.argv.slice(2) : ["HEAD"];
console.table(Object.fromEntries(commits.map((commit) => [commit, sizesOf(commit)])));

function sizesOf(commit: string): Record<string, number> {
  const product = (path: string) => PACKAGE.test(path) && !AROUND.test(path);
  const lines = linesOfCode(commit);
  const sum = (matches: (path: string) => boolean) =>
    lines.reduce((total, [path, count]) => total + (matches(path) ? count : 0), 0);
  const [inside, around] = [sum(product), sum((path) => !product(path))];
  return {
    ...{ product: inside, "around it": around, ratio: Math.round((100 * around) / inside) / 100 },
    ...{
      "of this test/": sum((path) => path.startsWith("test/")),
      "words in docs/": words(commit),
    },
  };
}

/** Returns the path and number of lines of each file of code. */
function linesOfCode(commit: string): [path: string, lines: number][] {
  return git("grep", "-c", "", commit)
    .map((line) => line.slice(commit.length + 1).split(":"))
    .filter(([path = ""]) => CODE.test(path) && !GENERATED.test(path))
    .map(([path = "", count]) => [path, Number(count)]);
}

function words(commit: string): number {
  return git("grep", "-h", "", commit, "--", "docs/*.md").join(" ").match(/\S+/g)?.length ?? 0;
}

function git(...args: string[]): string[] {
  const text = execFileSync("git", args, { encoding: "utf8", maxBuffer: 2 ** 28 });
  return text.trimEnd().split("\n");
}
