import { type FileHandle, open, rm } from "node:fs/promises";
import { extname } from "node:path";
import type { CsvFile } from "./csv-file.ts";
import { csvHeader, csvLine } from "./csv-line.ts";
import type { CsvRow } from "./csv-rows.ts";
import { codeOf, ImportError } from "./import-error.ts";

/** The CSV file of refused rows. It is created with the first of them. */
export type RefusedFile = {
  /** The path of the file. `undefined` while there is no file, and after a row could not be written to it. */
  readonly path: string | undefined;
  /**
   * Adds rows, each with its line in the first file and the reason. Throws an ImportError if they cannot be written.
   */
  add(rows: readonly { readonly row: CsvRow; readonly reason: string }[]): Promise<void>;
  /** Closes the file. Throws an ImportError if the last rows cannot be written. */
  close(): Promise<void>;
};

/** The file's own columns. They come first, so that rows with too many or too few cells do not move them. */
const OWN_COLUMNS = ["reason", "line"];
const LINE_PLACE = OWN_COLUMNS.indexOf("line");
const BYTE_ORDER_MARK = "\ufeff";

/** Returns the place of the column `line` in a file of refused rows. `undefined` for any other file. */
export function findLineColumn(header: readonly string[]): number | undefined {
  return OWN_COLUMNS.every((name, place) => header[place] === name) ? LINE_PLACE : undefined;
}

/**
 * Prepares a file of refused rows next to the imported file, with the same separator and columns. If the imported file
 * is itself such a file, its reasons are replaced and its lines are kept. No file is overwritten, because it may hold
 * corrections: without `path` the next free name is used. The first `add` creates the file, or throws an ImportError if
 * that fails.
 */
export function createRefusedFile(source: CsvFile, path: string | undefined): RefusedFile {
  const linePlace = findLineColumn(source.header);
  const ownCells = (cells: readonly string[]) =>
    linePlace === undefined ? cells : cells.slice(OWN_COLUMNS.length);
  // Ids are derived from the lines, so the lines of the first file are kept.
  const lineOf = ({ line, cells }: CsvRow) =>
    linePlace === undefined ? `${line}` : (cells[linePlace] ?? "");
  let opening: Promise<MadeFile> | undefined;
  let written = Promise.resolve();
  let made: MadeFile | undefined;
  let isWhole = true;

  async function make(): Promise<MadeFile> {
    made = await (path === undefined ? openNextFree(source.path) : openNamed(path));
    const header = csvHeader([...OWN_COLUMNS, ...ownCells(source.header)], source.separator);
    await writing(made, (file) =>
      file.appendFile(source.hasByteOrderMark ? BYTE_ORDER_MARK + header : header),
    );
    return made;
  }

  async function writing({ path, file }: MadeFile, write: (file: FileHandle) => Promise<void>) {
    try {
      await write(file);
    } catch (error) {
      isWhole = false;
      throw new ImportError(
        `${path} cannot be written (${codeOf(error)}): free space and remove that file. Then import again: stored rows are not stored twice.`,
        { cause: error },
      );
    }
  }

  return {
    get path() {
      return isWhole ? made?.path : undefined;
    },
    async add(rows) {
      if (rows.length === 0) return;
      // `add` may be called again before it ends, and an append may take several writes. Therefore appends run in
      // turn.
      opening ??= make();
      const target = await opening;
      const lines = rows.map(({ row, reason }) =>
        csvLine([reason, lineOf(row), ...ownCells(row.cells)], source.separator),
      );
      written = written.then(() => writing(target, (file) => file.appendFile(lines.join(""))));
      await written;
    },
    async close() {
      // Ignores a failure to make or write the file, because `add` has already failed with the reason.
      await opening?.catch(() => {});
      await written.catch(() => {});
      // Some file systems report a full disk only when the file is closed.
      if (made !== undefined) await writing(made, (file) => file.close());
    },
  };
}

/** Creates a file at `path` and removes it, so that a wrong path is refused early. Throws an ImportError. */
export async function checkRefusedPath(path: string): Promise<void> {
  const { file } = await openNamed(path);
  await file.close();
  await rm(path);
}

type MadeFile = { readonly path: string; readonly file: FileHandle };

/** For donations.csv, opens donations.refused.csv, or donations.refused-2.csv, and so on. */
async function openNextFree(sourcePath: string): Promise<MadeFile> {
  const extension = extname(sourcePath);
  const stem = sourcePath.slice(0, sourcePath.length - extension.length);
  for (let number = 1; ; number += 1) {
    const suffix = number === 1 ? "" : `-${number}`;
    const made = await openNew(`${stem}.refused${suffix}.csv`);
    if (made !== undefined) return made;
  }
}

async function openNamed(path: string): Promise<MadeFile> {
  const made = await openNew(path);
  if (made !== undefined) return made;
  throw new ImportError(`${path} exists already: name another file with --refused.`);
}

/** Creates a file. Returns `undefined` if the name exists. */
async function openNew(path: string): Promise<MadeFile | undefined> {
  try {
    return { path, file: await open(path, "wx", 0o600) };
  } catch (error) {
    if (codeOf(error) === "EEXIST") return undefined;
    const cause = error instanceof Error ? error.message : String(error);
    throw new ImportError(
      `The file for refused rows cannot be made (${cause}): name another with --refused.`,
      { cause: error },
    );
  }
}
