import { hash, randomBytes } from "node:crypto";

const FORM = /^[0-9a-f]{64}$/;
const SECRET_BYTES = 32;

/** The time in which a link can be used. */
export const LINK_VALIDITY_MICROS = 5 * 60_000_000;
/** The lifetime of a session. Activity does not extend it. */
export const SESSION_LIFE_SECONDS = 12 * 3600;

/**
 * Returns a new code of a link, or a new session's text, with its hash. It has 32 random bytes, and only the hash is
 * stored.
 */
export function newSessionSecret(): { readonly secret: string; readonly hash: Buffer } {
  const secret = randomBytes(SECRET_BYTES).toString("hex");
  return { secret, hash: hashSessionSecret(secret) };
}

/** Returns the stored hash of a code or session: the SHA-256 of its text. */
export function hashSessionSecret(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

/** Returns whether a text has the form of a code or session. */
export function isSessionSecret(text: string): boolean {
  return FORM.test(text);
}

/** Returns the name of a link in notices: 15 characters of its code's hash. Nobody can find the code from them. */
export function linkId(codeHash: Buffer): string {
  return codeHash.toString("hex").slice(0, 15);
}
