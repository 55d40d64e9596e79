/** A column's title and cells; numbers have some digits behind the point, and what is no number is a dash. */
export type Column<Row> =
  | readonly [title: string, cell: (row: Row) => string]
  | readonly [title: string, cell: (row: Row) => number, digits: number];

/** Writes a table as Markdown, its columns aligned; nothing when it has no rows. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string[] {
  if (rows.length === 0) return [];
  const cells = rows.map((row) => columns.map((column) => cellOf(row, column)));
  const titles = columns.map(([title]) => title);
  const widths = titles.map((title, place) =>
    Math.max(3, title.length, ...cells.map((row) => row[place]?.length ?? 0)),
  );
  const line = (row: readonly string[]) => {
    const padded = row.map((cell, place) => {
      const width = widths[place] ?? 0;
      return place === 0 ? cell.padEnd(width) : cell.padStart(width);
    });
    return `| ${padded.join(" | ")} |`;
  };
  const rule = widths.map((width, place) => "-".repeat(width - (place && 1)) + (place ? ":" : ""));
  return [line(titles), line(rule), ...cells.map(line)];
}

/** Writes a number as people read it. */
export function grouped(value: number): string {
  return value.toLocaleString("en");
}

function cellOf<Row>(row: Row, [, cell, digits]: Column<Row>): string {
  const value = cell(row);
  if (typeof value === "string") return value;
  return Number.isNaN(value) ? "-" : value.toFixed(digits);
}
