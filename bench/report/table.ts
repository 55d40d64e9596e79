import { markdownTable } from "markdown-table";

/** A column's title and cells. Numbers have `digits` decimal places; a missing number is a dash. */
export type Column<Row> =
  | readonly [title: string, cell: (row: Row) => string]
  | readonly [title: string, cell: (row: Row) => number, digits: number];

/** Returns an aligned Markdown table; empty without rows. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string[] {
  if (rows.length === 0) return [];
  const titles = columns.map(([title]) => title);
  const cells = rows.map((row) => columns.map((column) => cellOf(row, column)));
  const align = columns.map((_, place) => (place === 0 ? null : "r"));
  return markdownTable([titles, ...cells], { align }).split("\n");
}

/** Formats a number with thousands separators. */
export function grouped(value: number): string {
  return value.toLocaleString("en");
}

function cellOf<Row>(row: Row, [, cell, digits]: Column<Row>): string {
  const value = cell(row);
  if (typeof value === "string") return value;
  return Number.isNaN(value) ? "-" : value.toFixed(digits);
}
