import { productionPackages } from "./production-packages.ts";

// Lists the licence of every package of the product. Exits with 1 if one is not allowed.
//
//   node tools/release/licences.ts

/** Licences that require at most that we keep their notices. All are compatible with Apache-2.0. */
const ALLOWED = new Set([
  "Apache-2.0",
  "MIT",
  "ISC",
  "0BSD",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  // Public domain.
  "Unlicense",
  // The licence of a table of browsers that webpack reads. Its data are unchanged, and their source is named.
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

/**
 * Returns whether a licence is allowed. With OR, one licence must be. With AND, all must be. Returns false for an
 * expression with both, because a person must decide on it.
 */
function isAllowed(expression: string): boolean {
  if (ALLOWED.has(expression)) return true;
  if (expression.includes(" OR ") && expression.includes(" AND ")) return false;
  const choices = expression.replaceAll(/[()]/g, "").split(" OR ");
  return choices.some((choice) => choice.split(" AND ").every((licence) => ALLOWED.has(licence)));
}
