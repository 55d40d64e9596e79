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
  const inserts = changes.flatMap((change) => ("into" in change ? change : []));
  const others = changes.flatMap((change) => ("into" in change ? [] : change));
  const byTable = Map.groupBy(inserts, ({ into }) => into);
  const ofTables = Array.from(byTable, ([{ insert, ending = "" }, own]) => ({
    sql: `${insert} VALUES ? ${ending}`,
    values: [own.map(({ row }) => row)],
  }));
  return [...ofTables, ...others];
}
