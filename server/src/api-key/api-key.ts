import { hash, randomBytes } from "node:crypto";

/** Every API key begins with the service prefix and `_live_`. §2.7 */
const START = "act_live_";
const FORM = /^act_live_[0-9a-f]{64}$/;
const SECRET_BYTES = 32;
/** A key's prefix shows this many characters after `START`, so that its owner recognizes the key. */
const SHOWN_CHARACTERS = 8;

/** Maximum active keys of an account. §8 */
export const MAX_ACTIVE_API_KEYS = 10;

const DAY_MICROS = 86_400_000_000;

/** A new key. Only its owner gets the secret. The hash and the prefix are stored. */
export type NewApiKey = {
  readonly secret: string;
  readonly hash: Buffer;
  readonly prefix: string;
};

/** Returns a new key of 32 random bytes. */
export function newApiKey(): NewApiKey {
  const secret = START + randomBytes(SECRET_BYTES).toString("hex");
  return {
    secret,
    hash: hashApiKey(secret),
    prefix: secret.slice(0, START.length + SHOWN_CHARACTERS),
  };
}

/** Returns the stored hash of a key: SHA-256 of its whole text. §2.7 */
export function hashApiKey(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

/** Tells whether a text has the form of an API key. */
export function isApiKeyText(text: string): boolean {
  return FORM.test(text);
}

/** Converts a validity in days to microseconds. */
export function validityMicros(days: number): number {
  return days * DAY_MICROS;
}
