import type { Statement } from "./packet.ts";

/** A table to insert into. One statement inserts the rows of many callers. */
export type Table = {
  /** `INSERT INTO … (…)`. */
  readonly insert: string;
  /** SQL after the rows: what happens to a row that already exists. */
  readonly ending?: string;
};

/** A row to insert into a table. */
export type Insert = { readonly into: Table; readonly row: readonly unknown[] };

/** A write: a new row, or a statement. */
export type Change = Insert | Statement;

/** Returns the statements of some changes: one insert per table, then all others in order. */
export function statementsOf(changes: readonly Change[]): Statement[] {
  const rows = new Map<Table, (readonly unknown[])[]>();
  const others: Statement[] = [];
  for (const change of changes) {
    if (!("into" in change)) {
      others.push(change);
      continue;
    }
    const tableRows = rows.get(change.into);
    if (tableRows === undefined) rows.set(change.into, [change.row]);
    else tableRows.push(change.row);
  }
  const inserts = Array.from(rows, ([{ insert, ending = "" }, all]) => ({
    sql: `${insert} VALUES ? ${ending}`,
    values: [all],
  }));
  return [...inserts, ...others];
}
