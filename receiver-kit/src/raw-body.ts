import { VerificationError } from "./verification-error.ts";

/** The received body. A string means its UTF-8 bytes. */
export type RawBody = Uint8Array | ArrayBuffer | string;

const utf8 = new TextEncoder();

/** Returns the bytes of a raw body. Throws `body_not_raw` if something else parsed it. */
export function bytesFromRawBody(body: RawBody): Uint8Array {
  if (body instanceof Uint8Array) return body;
  if (typeof body === "string") return utf8.encode(body);
  const bytes = bytesFromBuffer(body);
  if (bytes) return bytes;
  throw new VerificationError("body_not_raw", describeBody(body));
}

function bytesFromBuffer(body: unknown): Uint8Array | undefined {
  try {
    if (ArrayBuffer.isView(body))
      return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
    // Checks the tag, not the class, because a framework's buffer can come from another realm.
    const tag = Object.prototype.toString.call(body);
    return tag === "[object ArrayBuffer]" ? new Uint8Array(body as ArrayBuffer) : undefined;
  } catch {
    return undefined; // A detached buffer has no bytes any more.
  }
}

function describeBody(body: unknown): string {
  if (body === undefined || body === null)
    return "there is none, or its stream was consumed before";
  if (typeof body === "object") return "a parser such as JSON's ran first; pass the raw bytes";
  return `got a ${typeof body}`;
}
