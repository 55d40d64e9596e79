import { open } from "node:fs/promises";
import { type CsvRow, createCsvRows } from "./csv-rows.ts";
import { ImportError } from "./import-error.ts";
import { findSeparator, QUOTED_CELL, type Separator } from "./separator.ts";
import { readFileState, readTextPieces } from "./text-pieces.ts";

/** A CSV file whose header was read. */
export type CsvFile = {
  readonly path: string;
  readonly sizeBytes: number;
  readonly hasByteOrderMark: boolean;
  readonly separator: Separator;
  /** The names in its header line. */
  readonly header: readonly string[];
  /**
   * Reads the rows after the header in groups, without rows of empty cells. Can be called again. Calls `report` with
   * the bytes read so far. Throws an ImportError if the file cannot be read further.
   */
  readRows(report?: (bytesRead: number) => void): AsyncGenerator<CsvRow[], void>;
};

const HEADER_LINE = new RegExp(`^[\\r\\n]*((?:${QUOTED_CELL.source}|[^\\r\\n])*)`);
/** A first line that names the separator for spreadsheets. */
const SEPARATOR_LINE = /^[\r\n]*sep=([;,\t])(?=[\r\n])/i;

/** Opens a CSV file and reads its header. Throws an ImportError if it is no CSV file. */
export async function openCsvFile(path: string): Promise<CsvFile> {
  const state = await readFileState(path);
  const head = await readHead(readTextPieces(path, state));
  const declared = SEPARATOR_LINE.exec(head);
  const line = HEADER_LINE.exec(head.slice(declared?.[0].length ?? 0))?.[1] ?? "";
  if (line === "") throw new ImportError(`${path} has no header line.`);
  // A header without a separator has one column, for which any separator works.
  const separator = (declared?.[1] as Separator | undefined) ?? findSeparator(line) ?? ",";
  const headerRows = createCsvRows(separator);
  const rowsBefore = declared ? 2 : 1;

  async function* readRows(report?: (bytesRead: number) => void): AsyncGenerator<CsvRow[], void> {
    const parser = createCsvRows(separator);
    let toSkip = rowsBefore;
    const behindHeader = (rows: CsvRow[]) => {
      const kept = rows.slice(toSkip).filter(isFilled);
      toSkip -= Math.min(toSkip, rows.length);
      return kept;
    };
    for await (const text of readTextPieces(path, state, report)) {
      yield behindHeader(parser.push(text));
    }
    yield behindHeader(parser.end());
  }

  return {
    path,
    sizeBytes: state.size,
    hasByteOrderMark: await startsWithByteOrderMark(path),
    separator,
    header: [...headerRows.push(line), ...headerRows.end()][0]?.cells ?? [],
    readRows,
  };
}

async function readHead(pieces: AsyncIterable<string>): Promise<string> {
  for await (const piece of pieces) return piece;
  return "";
}

async function startsWithByteOrderMark(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(3), 0, 3, 0);
    return bytesRead === 3 && buffer.toString("hex") === "efbbbf";
  } finally {
    await file.close();
  }
}

function isFilled({ cells }: CsvRow): boolean {
  return cells.some((cell) => cell !== "");
}
