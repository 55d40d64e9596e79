import { ImportError } from "./import-error.ts";
import type { Separator } from "./separator.ts";

/** One row of a file, and the number of its first line, from 1. Cells are as written, without their quotes. */
export type CsvRow = { readonly line: number; readonly cells: readonly string[] };

/** Takes the text of a file in pieces and returns its rows. */
export type CsvRows = {
  /**
   * Takes the next piece of text and returns the rows that it completes. If a row cannot be read, this returns the rows
   * before it, and the next call throws the ImportError. If there are no rows before it, this call throws.
   */
  push(text: string): CsvRow[];
  /**
   * Ends the text and returns its last row, if that had no line end. Throws an ImportError if the text ends inside a
   * quote.
   */
  end(): CsvRow[];
};

/** Maximum characters of a row. A longer one probably has a quote that was never closed. */
const MAX_ROW_LENGTH = 1_000_000;
/** A quoted cell: its text, with doubled quotes, up to the closing quote. */
const QUOTED = /"([^"]*(?:""[^"]*)*)"(?!")/y;
const LINE_END = /\r\n|\r|\n/g;

/**
 * Reads rows by RFC 4180. Lines end with CRLF, LF or CR. A quote has a meaning only at the start of a cell. Empty lines
 * are skipped. If text follows a closing quote, throws an ImportError that names the line. Written by hand, because
 * `csv-parse` names the line on which a row ends. After a quote that is never closed, that line is far from the
 * mistake.
 */
export function createCsvRows(separator: Separator): CsvRows {
  /** Ends an unquoted cell. */
  const cellEnd = new RegExp(`[\\r\\n${separator}]`, "g");
  let rest = "";
  let line = 1;
  let failure: unknown;

  function push(text: string): CsvRow[] {
    rest += text;
    const rows = readRows(false);
    if (rest.length > MAX_ROW_LENGTH) {
      failure ??= new ImportError(
        `Line ${line} begins a row of more than ${MAX_ROW_LENGTH} characters: probably a quote there is never closed.`,
      );
    }
    if (failure !== undefined && rows.length === 0) throw failure;
    return rows;
  }

  function end(): CsvRow[] {
    const rows = readRows(true);
    if (failure !== undefined) throw failure;
    if (rest !== "") {
      throw new ImportError(
        `The file ends inside a quoted cell of the row that begins on line ${line}: close the quote, or fetch the file again if it is cut off.`,
      );
    }
    return rows;
  }

  function readRows(isWhole: boolean): CsvRow[] {
    const rows: CsvRow[] = [];
    let at = 0;
    while (at < rest.length && failure === undefined) {
      const row = tryRow(at, isWhole);
      if (row === undefined) break;
      if (row.cells.length > 1 || row.end - at > row.lineEndLength) {
        rows.push({ line, cells: row.cells });
      }
      line += row.lines;
      at = row.end;
    }
    rest = rest.slice(at);
    return rows;
  }

  function tryRow(start: number, isWhole: boolean) {
    try {
      return readRow(start, isWhole);
    } catch (error) {
      failure = error;
      return undefined;
    }
  }

  /** Reads the row at `start`. Returns `undefined` if it is not complete yet. */
  function readRow(start: number, isWhole: boolean) {
    const cells: string[] = [];
    let lines = 1;
    let at = start;
    for (;;) {
      if (rest[at] === '"') {
        QUOTED.lastIndex = at;
        const inside = QUOTED.exec(rest)?.[1];
        if (inside === undefined) return undefined;
        at = QUOTED.lastIndex;
        // Waits for the next character. It decides whether the quote closes the cell or is half of a pair.
        if (at === rest.length && !isWhole) return undefined;
        checkAfterQuote(rest[at], line + lines - 1);
        lines += countLineEnds(inside);
        cells.push(inside.includes('"') ? inside.replaceAll('""', '"') : inside);
      } else {
        cellEnd.lastIndex = at;
        const stop = cellEnd.exec(rest)?.index ?? rest.length;
        if (stop === rest.length && !isWhole) return undefined;
        cells.push(rest.slice(at, stop));
        at = stop;
      }
      const stopped = rest[at];
      if (stopped === separator) {
        at += 1;
        continue;
      }
      // Waits for the next character, because CR may be the first half of CRLF.
      if (stopped === "\r" && at + 1 === rest.length && !isWhole) return undefined;
      const lineEndLength = stopped === undefined ? 0 : rest.startsWith("\r\n", at) ? 2 : 1;
      return { cells, lines, end: at + lineEndLength, lineEndLength };
    }
  }

  function checkAfterQuote(character: string | undefined, onLine: number): void {
    const isEnd = character === undefined || character === "\r" || character === "\n";
    if (isEnd || character === separator) return;
    throw new ImportError(
      `Line ${onLine} has text behind a closing quote: write a quote inside a quoted cell twice.`,
    );
  }

  return { push, end };
}

function countLineEnds(text: string): number {
  return text.match(LINE_END)?.length ?? 0;
}
