import { type Goal, isMet, missedBy } from "./goal.ts";

export const GOAL_HEAD = ["goal", "wanted", "measured", ""];

const DIGITS: Readonly<Record<Goal["unit"], number>> = {
  "×": 2,
  "/s": 0,
  MB: 0,
  KB: 1,
  ms: 2,
  "%": 1,
  "": 1,
};

/** Says what became of a goal. */
export function goalRow(goal: Goal): string[] {
  const digits = DIGITS[goal.unit];
  return [
    goal.text,
    `${goal.bound} ${goal.goal} ${goal.unit}`,
    `${goal.measured.toFixed(digits)} ${goal.unit}`,
    isMet(goal) ? "met" : `MISSED by ${missedBy(goal)}`,
  ];
}

/** Writes a table as Markdown, its columns aligned; nothing when it has no rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const widths = head.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => pad(cell, widths[column] ?? 0, column)).join(" | ")} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`,
  );
  return [line(head), line(rule), ...rows.map(line)];
}

function pad(cell: string, width: number, column: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}
