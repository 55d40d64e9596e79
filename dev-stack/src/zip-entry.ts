import { inflateRawSync } from "node:zlib";

const END = Buffer.from([0x50, 0x4b, 0x05, 0x06]);
const STORED = 0;
const DEFLATED = 8;

/**
 * Reads the file whose name ends with `nameEnd` out of a zip archive of less than 4 GB; `undefined` when there is
 * none. The layout is that of PKWARE's APPNOTE, 4.3; what is read must come from a source that is trusted.
 */
export function readZipEntry(archive: Buffer, nameEnd: string): Buffer | undefined {
  const end = archive.lastIndexOf(END);
  if (end < 0) return undefined;
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    const nameLength = archive.readUInt16LE(at + 28);
    const name = archive.toString("utf8", at + 46, at + 46 + nameLength);
    if (name.endsWith(nameEnd)) return contentOf(archive, at);
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return undefined;
}

/** Reads the content that the directory's record at `at` describes. */
function contentOf(archive: Buffer, at: number): Buffer | undefined {
  const method = archive.readUInt16LE(at + 10);
  const local = archive.readUInt32LE(at + 42);
  // The local header has lengths of its own: its extra field need not be the directory's.
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const bytes = archive.subarray(start, start + archive.readUInt32LE(at + 20));
  if (method === STORED) return bytes;
  return method === DEFLATED ? inflateRawSync(bytes) : undefined;
}
