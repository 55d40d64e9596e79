import { createHash, randomBytes } from "node:crypto";

const FORM = /^[0-9a-f]{64}$/;
const SECRET_BYTES = 32;

/** How long a link may be used. */
export const LINK_VALIDITY_MICROS = 5 * 60_000_000;
/** How long a session lasts, whatever is done with it. */
export const SESSION_LIFE_SECONDS = 12 * 3600;

/** Returns a new code of a link, or the text of a new session: 32 random bytes, of which only the hash is kept. */
export function newSessionSecret(): { readonly secret: string; readonly hash: Buffer } {
  const secret = randomBytes(SECRET_BYTES).toString("hex");
  return { secret, hash: hashSessionSecret(secret) };
}

/** Returns what is stored of a code or session: the SHA-256 of its text. */
export function hashSessionSecret(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Tells whether a text has the form of a code or session. */
export function isSessionSecret(text: string): boolean {
  return FORM.test(text);
}

/** Returns what notices name a link by: 15 characters of its code's hash, from which nobody finds the code. */
export function linkId(codeHash: Buffer): string {
  return codeHash.toString("hex").slice(0, 15);
}
