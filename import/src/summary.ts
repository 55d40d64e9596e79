import { thousands } from "./import-progress.ts";
import type { ImportCounts } from "./import-report.ts";

const MAX_REASONS_SHOWN = 5;

/** Returns the summary of an import: the outcomes of its rows, and the path of the refused ones. */
export function summaryText(
  counts: ImportCounts,
  refusedPath: string | undefined,
  seconds: number,
): string {
  const { stored, unchanged, refused } = counts;
  const rows = stored + unchanged + refused;
  const lines = [
    `${thousands(rows)} rows in ${seconds.toFixed(1)} s: ${thousands(stored)} stored, ${thousands(unchanged)} unchanged, ${thousands(refused)} refused.`,
  ];
  for (const [reason, count] of counts.reasons.slice(0, MAX_REASONS_SHOWN)) {
    lines.push(`  ${thousands(count)} × ${reason}`);
  }
  if (counts.reasons.length > MAX_REASONS_SHOWN) lines.push("  and other reasons");
  if (refusedPath !== undefined) {
    lines.push(
      `The refused rows are in ${refusedPath}, each with its reason and line: correct them there and import that file.`,
    );
  }
  return `${lines.join("\n")}\n`;
}
