import type { Separator } from "./separator.ts";

/** Formats one row of a file, with its line end. Cells are quoted where needed. */
export function csvLine(cells: readonly string[], separator: Separator): string {
  return `${cells.map((cell) => csvCell(cell, separator)).join(separator)}\r\n`;
}

function csvCell(cell: string, separator: Separator): string {
  const needsQuotes = /["\r\n]/.test(cell) || cell.includes(separator);
  return needsQuotes ? `"${cell.replaceAll('"', '""')}"` : cell;
}
