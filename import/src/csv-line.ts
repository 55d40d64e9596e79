import { SEPARATORS, type Separator } from "./separator.ts";

/** Formats one row of a file, with its line end. Cells are quoted where needed. */
export function csvLine(cells: readonly string[], separator: Separator): string {
  return lineOf(cells, separator, [separator]);
}

/**
 * Formats the header. A cell with any separator is quoted, because a reader finds the file's separator by counting the
 * unquoted separators.
 */
export function csvHeader(cells: readonly string[], separator: Separator): string {
  return lineOf(cells, separator, SEPARATORS);
}

function lineOf(cells: readonly string[], separator: Separator, quoted: readonly string[]): string {
  const special = ['"', "\r", "\n", ...quoted];
  const written = cells.map((cell) =>
    special.some((one) => cell.includes(one)) ? `"${cell.replaceAll('"', '""')}"` : cell,
  );
  return `${written.join(separator)}\r\n`;
}
