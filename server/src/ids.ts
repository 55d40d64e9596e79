import { randomBytes } from "node:crypto";

const ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";
const LENGTH = 15;
const FORM = /^[a-z0-9]{15}$/;
/** Bytes from here on would favour the alphabet's first characters. */
const UNBIASED_BELOW = 256 - (256 % ALPHABET.length);

/** Returns a new random id of 15 characters `[a-z0-9]`: of a record, an account or a key. §2.1 */
export function newId(): string {
  let id = "";
  while (id.length < LENGTH) {
    for (const byte of randomBytes(LENGTH + 5)) {
      if (byte < UNBIASED_BELOW && id.length < LENGTH) id += ALPHABET[byte % ALPHABET.length];
    }
  }
  return id;
}

/** Tells whether a text has the form of an id. */
export function isId(text: string): boolean {
  return FORM.test(text);
}
