import {
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  timingSafeEqual,
} from "node:crypto";
import { DomainError, ErrorCode } from "../common/errors.ts";
import type { ActivityQuery } from "./activity-query.ts";

/**
 * A cursor is the base64url form of 42 bytes: version (1), key id (1), recorded_at in microseconds (8, big-endian),
 * record key (16), and the first 16 bytes of an HMAC-SHA256. The HMAC covers the bytes before it and the text of
 * `bindingOf`. 42 bytes fill 56 characters without padding, so each cursor has exactly one spelling.
 */
const VERSION = 1;
const KEY_ID_OFFSET = 1;
const RECORDED_AT_OFFSET = 2;
const RECORD_KEY_OFFSET = 10;
const MAC_OFFSET = 26;
const MAC_BYTES = 16;
const CURSOR_BYTES = MAC_OFFSET + MAC_BYTES;
const CURSOR_TEXT = /^[A-Za-z0-9_-]{56}$/;

/** The last activity of a page. The next page begins after it. */
export type FeedPosition = { readonly recordedAtMicros: number; readonly recordKey: string };

/** A key that signs cursors. */
export type CursorKey = {
  /** The byte that names this key in a cursor. */
  readonly id: number;
  /** Eight bytes of the key's hash, in hexadecimal. They tell keys apart that have the same `id`. */
  readonly fingerprint: string;
  readonly secret: KeyObject;
};

/** Creates a cursor key from 32 secret bytes. */
export function createCursorKey(secret: Buffer): CursorKey {
  const hash = createHash("sha256").update(secret).digest();
  const fingerprint = hash.toString("hex", 0, 8);
  return { id: hash.readUInt8(0), fingerprint, secret: createSecretKey(secret) };
}

/** Signs a position. The cursor is bound to the account, order and filters, but not to an API key or a limit. §4.2 */
export function signCursor(
  key: CursorKey,
  accountId: string,
  query: ActivityQuery,
  position: FeedPosition,
): string {
  const bytes = Buffer.alloc(CURSOR_BYTES);
  bytes.writeUInt8(VERSION);
  bytes.writeUInt8(key.id, KEY_ID_OFFSET);
  bytes.writeBigUInt64BE(BigInt(position.recordedAtMicros), RECORDED_AT_OFFSET);
  bytes.write(position.recordKey, RECORD_KEY_OFFSET, "latin1");
  macOf(key, bytes, accountId, query).copy(bytes, MAC_OFFSET, 0, MAC_BYTES);
  return bytes.toString("base64url");
}

/**
 * Returns the position of a cursor that one of `keys` signed for this account, order and filters. Fails with
 * `invalid_cursor` for any other text.
 */
export function parseCursor(
  keys: readonly CursorKey[],
  accountId: string,
  query: ActivityQuery,
  cursor: string,
): FeedPosition {
  if (!CURSOR_TEXT.test(cursor)) throw invalidCursor();
  const bytes = Buffer.from(cursor, "base64url");
  const mac = bytes.subarray(MAC_OFFSET);
  const signed = keys.some(
    (key) =>
      bytes[0] === VERSION &&
      bytes[KEY_ID_OFFSET] === key.id &&
      timingSafeEqual(macOf(key, bytes, accountId, query).subarray(0, MAC_BYTES), mac),
  );
  if (!signed) throw invalidCursor();
  return {
    recordedAtMicros: Number(bytes.readBigUInt64BE(RECORDED_AT_OFFSET)),
    recordKey: bytes.toString("latin1", RECORD_KEY_OFFSET, MAC_OFFSET),
  };
}

function macOf(key: CursorKey, bytes: Buffer, accountId: string, query: ActivityQuery): Buffer {
  return createHmac("sha256", key.secret)
    .update(bytes.subarray(0, MAC_OFFSET))
    .update(bindingOf(accountId, query))
    .digest();
}

/**
 * Joins the account, order and filters into one text, with times in microseconds. Append a new filter only when a
 * query has it, so that existing cursors stay valid. Append its name too: another new filter may have the same value.
 */
export function bindingOf(accountId: string, query: ActivityQuery): string {
  const order = query.ascending ? "asc" : "desc";
  const { type, platform, sinceMicros = "", untilMicros = "" } = query;
  return `${accountId}/${order}/${type}/${platform}/${sinceMicros}/${untilMicros}`;
}

/** A new field of `ActivityQuery` does not compile until it is listed here. Add it to `bindingOf` too. */
type Bound = "limit" | "ascending" | "type" | "platform" | "sinceMicros" | "untilMicros";
({}) satisfies Record<Exclude<keyof ActivityQuery, Bound>, never>;

function invalidCursor(): DomainError {
  return new DomainError(
    ErrorCode.InvalidCursor,
    "The cursor was not issued for this account, order and filters; start again without it.",
  );
}
