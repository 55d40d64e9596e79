import { productionPackages } from "./production-packages.ts";

// Lists the licence of every package that the product is made of, and ends with 1 when one is not allowed.
//
//   node tools/release/licences.ts

/** They ask that their notice is kept, and nothing else. Apache-2.0 goes with each. */
const ALLOWED = new Set([
  "Apache-2.0",
  "MIT",
  "ISC",
  "0BSD",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  // Given to the public.
  "Unlicense",
  // A table of browsers that webpack reads: data, used unchanged, with its source named.
  "CC-BY-4.0",
]);

const packages = productionPackages();
for (const { name, version, license } of packages) {
  process.stdout.write(`${license.padEnd(14)} ${name} ${version}\n`);
}
const refused = packages.filter(({ license }) => !isAllowed(license));
for (const { name, license } of refused) {
  process.stderr.write(
    `${name} is under ${license}, which is not allowed: use another package, or add it to tools/release/licences.ts with the reason.\n`,
  );
}
process.exitCode = refused.length > 0 || packages.length === 0 ? 1 : 0;

/** A choice is allowed where one of its licences is, and what holds together where all are. */
function isAllowed(expression: string): boolean {
  const choices = expression.replaceAll(/[()]/g, "").split(" OR ");
  return choices.some((choice) => choice.split(" AND ").every((licence) => ALLOWED.has(licence)));
}
