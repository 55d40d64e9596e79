import { type FileHandle, open } from "node:fs/promises";
import { TextDecoder } from "node:util";
import { codeOf, ImportError } from "./import-error.ts";

/** The state of a file, which shows whether it changed since it was first read. */
export type FileState = {
  readonly size: number;
  readonly changedMs: number;
  readonly inode: number;
};

const PIECE_BYTES = 256 * 1024;

/** Reads the state of a file. Throws an ImportError if it cannot be read or is no plain file. */
export async function readFileState(path: string): Promise<FileState> {
  const file = await openFile(path);
  try {
    return await stateOf(file);
  } finally {
    await file.close();
  }
}

/**
 * Reads a file as UTF-8 text in pieces, without a byte order mark. Calls `report` with the bytes read so far. Throws an
 * ImportError if the file cannot be read, has another encoding or changed since `state`.
 */
export async function* readTextPieces(
  path: string,
  state: FileState,
  report: (bytesRead: number) => void = () => {},
): AsyncGenerator<string, void> {
  const file = await openFile(path);
  try {
    checkUnchanged(path, state, await stateOf(file));
    const buffer = Buffer.allocUnsafe(PIECE_BYTES);
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let lines = 1;
    let bytesRead = 0;
    for (;;) {
      const { bytesRead: length } = await readPiece(path, file, buffer);
      const bytes = buffer.subarray(0, length);
      if (bytesRead === 0) checkNotUtf16(path, bytes);
      const text = decode(path, decoder, bytes, { lines, bytesRead });
      bytesRead += length;
      report(bytesRead);
      if (text !== "") yield text;
      if (length === 0) break;
      lines += countLineFeeds(bytes);
    }
    checkUnchanged(path, state, await stateOf(file));
  } finally {
    await file.close();
  }
}

async function openFile(path: string): Promise<FileHandle> {
  let file: FileHandle;
  try {
    file = await open(path);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") throw new ImportError(`There is no file ${path}.`, { cause: error });
    if (code === "EACCES") throw new ImportError(`${path} may not be read.`, { cause: error });
    throw new ImportError(`${path} cannot be opened (${code}).`, { cause: error });
  }
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new ImportError(`${path} is not a plain file: save the rows in one first.`);
}

async function readPiece(path: string, file: FileHandle, buffer: Buffer) {
  try {
    return await file.read(buffer, 0, PIECE_BYTES);
  } catch (error) {
    throw new ImportError(
      `${path} cannot be read (${codeOf(error)}): copy it to another disk, then import it again. Stored rows are not stored twice.`,
      { cause: error },
    );
  }
}

async function stateOf(file: FileHandle): Promise<FileState> {
  const { size, mtimeMs, ino } = await file.stat();
  return { size, changedMs: mtimeMs, inode: ino };
}

function checkUnchanged(path: string, before: FileState, now: FileState): void {
  const isSame =
    before.size === now.size && before.changedMs === now.changedMs && before.inode === now.inode;
  if (isSame) return;
  throw new ImportError(
    `${path} changed while it was read: stop other writers, then import it again. Stored rows are not stored twice.`,
  );
}

function checkNotUtf16(path: string, bytes: Buffer): void {
  const mark = bytes.toString("hex", 0, 2);
  const isAsciiInPairs =
    bytes.length >= 4 && ((bytes[0] === 0 && bytes[2] === 0) || (bytes[1] === 0 && bytes[3] === 0));
  if (mark === "fffe" || mark === "feff" || isAsciiInPairs) {
    throw new ImportError(
      `${path} is UTF-16 and must be UTF-8: save it as "CSV UTF-8", or convert it, for example with iconv -f UTF-16 -t UTF-8.`,
    );
  }
}

/** What was read before a piece. */
type Before = { readonly lines: number; readonly bytesRead: number };

function decode(path: string, decoder: TextDecoder, bytes: Buffer, before: Before): string {
  try {
    // An empty piece marks the end. A character that is cut off there is an error too.
    return decoder.decode(bytes, { stream: bytes.length > 0 });
  } catch (error) {
    throw new ImportError(
      `${path} is not UTF-8 (line ${before.lines + linesBeforeBadByte(bytes, before.bytesRead > 0)} or shortly after): save it as "CSV UTF-8", or convert it, for example with iconv -f WINDOWS-1252 -t UTF-8.`,
      { cause: error },
    );
  }
}

function linesBeforeBadByte(bytes: Buffer, hasPrevious: boolean): number {
  // A later piece can begin with the end of a character that began in the previous piece. That end would look bad, so
  // the search skips it.
  const start = hasPrevious ? bytes.findIndex((byte) => (byte & 0xc0) !== 0x80) : 0;
  // A replacement character of the text itself makes the reported line too early. If the first bad byte is the last of
  // its piece, the line can be too late.
  const text = bytes.toString("utf8", Math.max(0, start));
  return text.slice(0, Math.max(0, text.indexOf("\ufffd"))).split("\n").length - 1;
}

function countLineFeeds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}
