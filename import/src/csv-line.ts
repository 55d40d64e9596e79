import type { Separator } from "./separator.ts";

/**
 * Formats one row of a file, with its line end. Cells with any separator are quoted, because the next import finds the
 * separator by those that are not.
 */
export function csvLine(cells: readonly string[], separator: Separator): string {
  return `${cells.map(csvCell).join(separator)}\r\n`;
}

function csvCell(cell: string): string {
  return /[";,\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
