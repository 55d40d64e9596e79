import { createHmac, timingSafeEqual } from "node:crypto";
import { ApiError } from "./api-error.ts";

/** The end of a page. */
export type Position = { readonly recorded_at: number; readonly record_key: string };

const MAC_LENGTH = 43;

/** Signs a position together with `binding`: the account, order and filters. */
export function signCursor(key: Buffer, binding: string, position: Position): string {
  const place = `${position.recorded_at}.${position.record_key}`;
  const text = Buffer.from(place).toString("base64url");
  return text + macOf(key, binding, text);
}

/** Returns the position of a cursor that `key` signed for `binding`. Throws for any other cursor. */
export function parseCursor(key: Buffer, binding: string, cursor: string): Position {
  const text = cursor.slice(0, -MAC_LENGTH);
  const mac = Buffer.from(cursor.slice(-MAC_LENGTH));
  const right = Buffer.from(macOf(key, binding, text));
  if (mac.length !== right.length || !timingSafeEqual(mac, right)) {
    throw new ApiError(400, "invalid_cursor", "The cursor is invalid.");
  }
  const [at, record_key = ""] = Buffer.from(text, "base64url").toString().split(".");
  return { recorded_at: Number(at), record_key };
}

function macOf(key: Buffer, binding: string, text: string): string {
  return createHmac("sha256", key).update(`${binding}|${text}`).digest("base64url");
}
