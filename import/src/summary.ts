import { thousands } from "./import-progress.ts";
import type { ImportCounts } from "./import-report.ts";

const MAX_REASONS_SHOWN = 5;
/** A reason that names an option, such as `--timezone`. */
const CURABLE = /(?:^| )--\w/;

/** Returns the summary of an import: the outcomes of its rows, and the path of the refused ones. */
export function summaryText(
  counts: ImportCounts,
  refusedPath: string | undefined,
  seconds: number,
): string {
  const { stored, unchanged, refused, leftOut } = counts;
  const rows = stored + unchanged + refused + leftOut;
  const leftOutText = leftOut > 0 ? `, ${thousands(leftOut)} left out by --only` : "";
  const lines = [
    `${thousands(rows)} rows in ${seconds.toFixed(1)} s: ${thousands(stored)} stored, ${thousands(unchanged)} unchanged, ${thousands(refused)} refused${leftOutText}.`,
  ];
  for (const [reason, count] of counts.reasons.slice(0, MAX_REASONS_SHOWN)) {
    lines.push(`  ${thousands(count)} × ${reason}`);
  }
  if (counts.reasons.length > MAX_REASONS_SHOWN) lines.push("  and other reasons");
  if (refusedPath !== undefined) {
    const isCurable = counts.reasons.some(([reason]) => CURABLE.test(reason));
    // If the file has no ids, a row gets another id from the file of refused rows than from the imported file. So a row
    // that was stored from the refused ones would be stored again by an import of the whole file.
    const advice = isCurable
      ? ". Import the same file again with all options of this import and those that the reasons name. Then correct only the rows that are refused again."
      : ": correct them there and import that file.";
    lines.push(`The refused rows are in ${refusedPath}, each with its reason and line${advice}`);
  }
  return `${lines.join("\n")}\n`;
}
