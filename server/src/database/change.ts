import type { Statement } from "./packet.ts";

/** A table that rows are put into, those of many callers by one statement. */
export type Table = {
  /** `INSERT INTO … (…)`. */
  readonly insert: string;
  /** What stands behind the rows: what becomes of one that is there already. */
  readonly ending?: string;
};

/** A row to put into a table. */
export type Insert = { readonly into: Table; readonly row: readonly unknown[] };

/** Something to write: a row that is new, or a statement. */
export type Change = Insert | Statement;

/** The statements that make some changes: the new rows of each table together, then all others in order. */
export function statementsOf(changes: readonly Change[]): Statement[] {
  const rows = new Map<Table, (readonly unknown[])[]>();
  const others: Statement[] = [];
  for (const change of changes) {
    if (!("into" in change)) {
      others.push(change);
      continue;
    }
    const known = rows.get(change.into);
    if (known === undefined) rows.set(change.into, [change.row]);
    else known.push(change.row);
  }
  const inserts = Array.from(rows, ([{ insert, ending = "" }, all]) => ({
    sql: `${insert} VALUES ? ${ending}`,
    values: [all],
  }));
  return [...inserts, ...others];
}
