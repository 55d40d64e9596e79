/** Maximum characters of a statement that are read. */
const MAX_READ = 16_384;
/** Maximum characters that are shown. */
const MAX_SHOWN = 2_048;

/** A text as the driver escapes it, up to its end or the cut at `MAX_READ`. Bytes are such a text with the prefix X. */
const TEXT = /X?'(?:[^'\\]|\\.|'')*(?:'|\\?$)/gs;
const NUMBER = /\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b/gi;
/** `?,?,?` and `(?),(?)`: the values of a list or of many rows. */
const LIST = /\?(?:\s*,\s*\?)+/g;
const ROWS = /\(\?\)(?:\s*,\s*\(\?\))+/g;

/**
 * Returns a statement without its values: a question mark replaces each text, number and list. The driver shows
 * statements with every value.
 */
export function withoutValues(statement: string): string {
  return statement
    .slice(0, MAX_READ)
    .replace(TEXT, "?")
    .replace(NUMBER, "?")
    .replace(LIST, "?")
    .replace(ROWS, "(?)")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, MAX_SHOWN);
}
