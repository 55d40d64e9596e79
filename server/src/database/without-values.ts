/** How much of a statement is read, and told. */
const READ = 16_384;
const TOLD = 2_048;

/** A text as the driver escapes it, to its end or to where the statement was cut; bytes are one with an X before it. */
const TEXT = /X?'(?:[^'\\]|\\.|'')*(?:'|\\?$)/gs;
const NUMBER = /\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b/gi;
/** `?,?,?` and `(?),(?)`: the values of a list or of many rows. */
const LIST = /\?(?:\s*,\s*\?)+/g;
const ROWS = /\(\?\)(?:\s*,\s*\(\?\))+/g;

/**
 * Returns what a statement is, without its values: a question mark stands for each text, number and list of them. The
 * driver shows statements as they are sent, with every value in them.
 */
export function withoutValues(statement: string): string {
  return statement
    .slice(0, READ)
    .replace(TEXT, "?")
    .replace(NUMBER, "?")
    .replace(LIST, "?")
    .replace(ROWS, "(?)")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, TOLD);
}
