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
 * A cursor is base64url of 42 bytes: version (1), key id (1), recorded_at in microseconds (8,
 * big-endian), record key (16), and 16 bytes of an HMAC-SHA256. The HMAC is over those and what the
 * cursor is bound to. 42 bytes are 56 characters without padding bits, so each cursor has exactly
 * one spelling.
 */
const VERSION = 1;
const KEY_ID_OFFSET = 1;
const RECORDED_AT_OFFSET = 2;
const RECORD_KEY_OFFSET = 10;
const MAC_OFFSET = 26;
const MAC_BYTES = 16;
const CURSOR_BYTES = MAC_OFFSET + MAC_BYTES;
const CURSOR_TEXT = /^[A-Za-z0-9_-]{56}$/;

/** Where in a feed a page ended: the last activity it holds. */
export type FeedPosition = { readonly recordedAtMicros: number; readonly recordKey: string };

/** A key that signs cursors. */
export type CursorKey = {
  /** The byte that cursors name it by. */
  readonly id: number;
  /** Eight bytes of its hash, in hexadecimal: no two keys share it. */
  readonly fingerprint: string;
  readonly secret: KeyObject;
};

/** Creates a cursor key of 32 secret bytes. */
export function createCursorKey(secret: Buffer): CursorKey {
  const hash = createHash("sha256").update(secret).digest();
  const fingerprint = hash.toString("hex", 0, 8);
  return { id: hash.readUInt8(0), fingerprint, secret: createSecretKey(secret) };
}

/** Signs a position, bound to the account, the order and the filters, whatever key or limit is used. §4.2 */
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
 * Returns the position of a cursor that one of `keys` signed for this account, order and filters; fails
 * with `invalid_cursor` for any other text.
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
 * The account, order and filters as one text; times by meaning, in microseconds. A new filter is appended where it
 * is given, and only there: cursors that clients hold stay good.
 */
export function bindingOf(accountId: string, query: ActivityQuery): string {
  const order = query.ascending ? "asc" : "desc";
  const { type, platform, sinceMicros = "", untilMicros = "" } = query;
  return `${accountId}/${order}/${type}/${platform}/${sinceMicros}/${untilMicros}`;
}

/** A filter of a query that is not bound above does not compile here. */
type Bound = "limit" | "ascending" | "type" | "platform" | "sinceMicros" | "untilMicros";
({}) satisfies Record<Exclude<keyof ActivityQuery, Bound>, never>;

function invalidCursor(): DomainError {
  return new DomainError(
    ErrorCode.InvalidCursor,
    "The cursor was not issued for this account, order and filters; start again without it.",
  );
}
