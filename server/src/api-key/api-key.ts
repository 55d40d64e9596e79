import { createHash, randomBytes } from "node:crypto";

/** The service prefix and `_live_`: how every API key starts. §2.7 */
const START = "act_live_";
const FORM = /^act_live_[0-9a-f]{64}$/;
const SECRET_BYTES = 32;
/** Characters of the secret that its owner recognizes a key by. */
const SHOWN_CHARACTERS = 8;

/** Active keys an account may have. §8 */
export const MAX_ACTIVE_API_KEYS = 10;
/** The least time between two creations for one account. §8 */
export const CREATION_INTERVAL_MICROS = 60_000_000;

const DAY_MICROS = 86_400_000_000;

/** A key on its way to its owner; only the hash and the prefix are kept. */
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

/** Returns what is stored of a key: the SHA-256 of its whole text. §2.7 */
export function hashApiKey(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Tells whether a text has the form of an API key. */
export function isApiKeyText(text: string): boolean {
  return FORM.test(text);
}

/** Returns the validity of a key in microseconds. */
export function validityMicros(days: number): number {
  return days * DAY_MICROS;
}
