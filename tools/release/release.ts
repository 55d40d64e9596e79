import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { createSbom } from "./create-sbom.ts";
import { findMissingOwners } from "./missing-owner.ts";
import { PUBLISHED, packPackage, ROOT } from "./published.ts";
import { findOtherVersions, readVersion } from "./versioned.ts";

// Makes the files of a release in dist/release and prints the commands that publish them. It publishes nothing.
//
//   npm run release               runs .ci/run first, which takes half an hour
//   npm run release -- --tested   .ci/run has passed on this commit

const FOLDER = join(ROOT, "dist/release");
const { values } = parseArgs({ options: { tested: { type: "boolean", default: false } } });
const version = readVersion(ROOT);

const problems = [
  ...findOtherVersions(ROOT),
  ...findMissingOwners(ROOT, PUBLISHED),
  ...changelogProblems(),
  ...treeProblems(),
];
if (problems.length > 0) {
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.exit(1);
}
if (!values.tested) execFileSync(join(ROOT, ".ci/run"), { stdio: "inherit" });
makeFiles();

function changelogProblems(): string[] {
  const text = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  const sections = text.split(/^(?=## )/m);
  const hasEntries = (head: string) =>
    sections.some((section) => section.startsWith(head) && /^- /m.test(section));
  const problems: string[] = [];
  if (!hasEntries(`## [${version}] - 2`)) {
    problems.push(`CHANGELOG.md has no entries under "## [${version}] - YYYY-MM-DD".`);
  }
  if (hasEntries("## [Unreleased]")) {
    problems.push(`CHANGELOG.md has entries under "## [Unreleased]": put them under ${version}.`);
  }
  return problems;
}

function treeProblems(): string[] {
  const changed = git("status", "--porcelain").trimEnd();
  const problems = changed === "" ? [] : [`What is not committed is not released:\n${changed}`];
  const tagged = git("tag", "--list", `v${version}`, "--no-contains", "HEAD");
  if (tagged !== "") {
    problems.push(
      `The tag v${version} is of another commit: run \`npm version\` for the next one.`,
    );
  }
  return problems;
}

function git(...args: readonly string[]): string {
  return execFileSync("git", args, { cwd: ROOT, encoding: "utf8" });
}

function makeFiles(): void {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  const tarballs = PUBLISHED.map((name) => relative(ROOT, packPackage(name, FOLDER)));
  const sbom = join(FOLDER, `personal-activity-${version}.cdx.json`);
  writeFileSync(sbom, `${JSON.stringify(createSbom(), undefined, 2)}\n`);
  const isTagged = git("tag", "--list", `v${version}`) !== "";
  const commands = [
    ...(isTagged ? [] : [`git tag v${version}`]),
    `git push origin HEAD v${version}`,
    ...tarballs.map((path) => `npm publish ${path}`),
  ];
  process.stdout.write(
    `dist/release has ${tarballs.map((path) => basename(path)).join(", ")} and ${basename(sbom)}.\n` +
      `Nothing was published. To publish:\n\n${commands.map((each) => `  ${each}\n`).join("")}`,
  );
}
