import { readColumnPlace } from "./columns.ts";

/** One `--only`: a column, and the value that it has in the rows to import. */
export type OnlyOption = { readonly column: string; readonly value: string };

/** Chooses the rows to import. */
export type RowFilter = {
  /** The places of the columns that it reads. */
  readonly places: readonly number[];
  /** Returns whether a row has every value, ignoring case. */
  accepts(cells: readonly string[]): boolean;
};

/** Creates the filter of all `--only`. Throws an ImportError if the file lacks one of their columns. */
export function createRowFilter(
  header: readonly string[],
  options: readonly OnlyOption[],
): RowFilter {
  const conditions = options.map(({ column, value }) => ({
    place: readColumnPlace(header, `--only "${column}=${value}"`, column),
    value: comparable(value),
  }));
  return {
    places: conditions.map(({ place }) => place),
    accepts: (cells) =>
      conditions.every(({ place, value }) => comparable(cells[place] ?? "") === value),
  };
}

function comparable(text: string): string {
  return text.normalize("NFC").trim().toLowerCase();
}
