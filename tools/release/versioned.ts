import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The places that must have the version of the root's package.json. Private workspaces keep theirs. */
const PLACES: readonly (readonly [file: string, around: RegExp])[] = [
  ["receiver-kit/package.json", /(^ {2}"version": ")([^"]+)(")/m],
  ["feed/package.json", /(^ {2}"version": ")([^"]+)(")/m],
  ["proto/client/package.json", /(^ {2}"version": ")([^"]+)(")/m],
  ["package-lock.json", /(^ {4}"receiver-kit": \{\n {6}"version": ")([^"]+)(")/m],
  [
    "package-lock.json",
    /(^ {4}"feed": \{\n(?: {6}"name": "[^"]+",\n)? {6}"version": ")([^"]+)(")/m,
  ],
  ["deploy/helm/personal-activity/Chart.yaml", /(^version: )(\S+)()$/m],
  ["deploy/helm/personal-activity/Chart.yaml", /(^appVersion: )(\S+)()$/m],
  ["deploy/compose.yaml", /(image: personal-activity:)(\S+)()$/m],
  ["docs/deploying.md", /(-t personal-activity:)(\S+)( )/],
];

/** Returns the product's version. */
export function readVersion(root: string): string {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version;
}

/** Returns a sentence for each file whose version differs from the root's package.json. */
export function findOtherVersions(root: string): string[] {
  const version = readVersion(root);
  return PLACES.flatMap(([file, around]) => {
    const found = around.exec(readFileSync(join(root, file), "utf8"))?.[2] ?? "no version";
    return found === version ? [] : [`${file} says ${found}, package.json ${version}.`];
  });
}

/** Writes the version of the root's package.json to all other files. Returns those files. */
export function writeVersion(root: string): string[] {
  const version = readVersion(root);
  for (const [file, around] of PLACES) {
    const path = join(root, file);
    const text = readFileSync(path, "utf8").replace(around, `$1${version}$3`);
    writeFileSync(path, text);
  }
  return [...new Set(PLACES.map(([file]) => file))];
}
