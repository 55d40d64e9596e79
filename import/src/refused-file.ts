import { type FileHandle, open } from "node:fs/promises";
import { extname } from "node:path";
import type { CsvFile } from "./csv-file.ts";
import { csvLine } from "./csv-line.ts";
import type { CsvRow } from "./csv-rows.ts";
import { ImportError } from "./import-error.ts";

/** The CSV file of refused rows. It is created with the first of them. */
export type RefusedFile = {
  /** The path of the file. `undefined` while there is none. */
  readonly path: string | undefined;
  /** Adds rows, each with its line in the imported file and the reason. */
  add(rows: readonly { readonly row: CsvRow; readonly reason: string }[]): Promise<void>;
  close(): Promise<void>;
};

/** The first columns, so that rows with too many or too few cells do not move them. */
const OWN_COLUMNS = ["reason", "line"];
const BYTE_ORDER_MARK = "\ufeff";

/**
 * Prepares a file of refused rows next to the imported file, with the same separator and columns. If the imported file
 * is itself such a file, its added columns are left out. No file is overwritten, because it may hold corrections:
 * without `path` the next free name is used. Throws an ImportError if the file cannot be created.
 */
export function createRefusedFile(source: CsvFile, path: string | undefined): RefusedFile {
  const isCorrection = OWN_COLUMNS.every((name, place) => source.header[place] === name);
  const ownCells = (cells: readonly string[]) =>
    isCorrection ? cells.slice(OWN_COLUMNS.length) : cells;
  let file: FileHandle | undefined;
  let madePath: string | undefined;

  async function make(): Promise<FileHandle> {
    const made = path === undefined ? await openNextFree(source.path) : await openNew(path);
    if (made === undefined) {
      throw new ImportError(`${path} exists already: name another file with --refused.`);
    }
    madePath = made.path;
    const header = csvLine([...OWN_COLUMNS, ...ownCells(source.header)], source.separator);
    await made.file.write(source.hasByteOrderMark ? BYTE_ORDER_MARK + header : header);
    return made.file;
  }

  return {
    get path() {
      return madePath;
    },
    async add(rows) {
      if (rows.length === 0) return;
      file ??= await make();
      const lines = rows.map(({ row, reason }) =>
        csvLine([reason, `${row.line}`, ...ownCells(row.cells)], source.separator),
      );
      await file.write(lines.join(""));
    },
    async close() {
      await file?.close();
    },
  };
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

/** Creates a file. Returns `undefined` if the name exists. */
async function openNew(path: string): Promise<MadeFile | undefined> {
  try {
    return { path, file: await open(path, "wx") };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return undefined;
    const cause = error instanceof Error ? error.message : String(error);
    throw new ImportError(
      `The file for refused rows cannot be made (${cause}): name another with --refused.`,
      { cause: error },
    );
  }
}
