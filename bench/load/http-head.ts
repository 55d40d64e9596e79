/** The head of an HTTP/1.1 message: its own bytes, and those of the body that follows it. */
export type HttpHead = { readonly headLength: number; readonly bodyLength: number };

const HEAD_END = "\r\n\r\n";
const LENGTH = /\r\ncontent-length: *(\d+)/i;

/** Finds the head at the beginning of some bytes, once it is whole; throws when it does not tell a length. */
export function findHttpHead(bytes: Buffer): HttpHead | undefined {
  const end = bytes.indexOf(HEAD_END);
  if (end < 0) return undefined;
  const length = LENGTH.exec(bytes.toString("latin1", 0, end));
  if (length === null) throw new Error("an HTTP message without Content-Length");
  return { headLength: end + HEAD_END.length, bodyLength: Number(length[1]) };
}
