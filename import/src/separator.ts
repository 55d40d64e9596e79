/** The character between the cells of a row. */
export type Separator = ";" | "," | "\t";

export const SEPARATORS: readonly Separator[] = [";", ",", "\t"];

/** Matches a quoted cell. A quote has a meaning only at the start of a cell. */
export const QUOTED_CELL = /(?<![^;,\t\r\n])"(?:[^"]|"")*"/g;

/**
 * Finds the separator of a file: the one that occurs most often in its header line outside quotes. Returns `undefined`
 * if none occurs.
 */
export function findSeparator(headerLine: string): Separator | undefined {
  const unquoted = headerLine.replace(QUOTED_CELL, "");
  const counts = SEPARATORS.map((separator) => ({
    separator,
    count: unquoted.split(separator).length - 1,
  }));
  const best = counts.reduce((one, other) => (other.count > one.count ? other : one));
  return best.count > 0 ? best.separator : undefined;
}
