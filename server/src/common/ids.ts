import { randomBytes, randomInt } from "node:crypto";

const ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";
const LENGTH = 15;
const FORM = /^[a-z0-9]{15}$/;
/** This byte and greater ones are dropped, because they would favour the alphabet's first characters. */
const UNBIASED_BELOW = 256 - (256 % ALPHABET.length);
/** Digits of the time at the start of an id: microseconds in base 36, until the year 2085. */
const TIME_DIGITS = 10;
const LAST_MICROS = ALPHABET.length ** TIME_DIGITS - 1;
const RANDOM_DIGITS = LENGTH - TIME_DIGITS;
const RANDOM_VALUES = ALPHABET.length ** RANDOM_DIGITS;

/** Returns a new random id of 15 characters `[a-z0-9]`, such as an API key's or an endpoint's. */
export function newId(): string {
  let id = "";
  while (id.length < LENGTH) {
    for (const byte of randomBytes(LENGTH + 5)) {
      if (byte < UNBIASED_BELOW && id.length < LENGTH) id += ALPHABET[byte % ALPHABET.length];
    }
  }
  return id;
}

/**
 * Returns a function that creates different ids of 15 characters `[a-z0-9]` for accounts, records, webhook events and
 * deliveries. They begin with the time in microseconds, so they sort by time. They are not secret. §2.1
 */
export function createIdsAt(micros: number): (atMicros?: number) => string {
  let random = randomInt(RANDOM_VALUES);
  return (atMicros = micros) => {
    random = (random + 1) % RANDOM_VALUES;
    return idAt(atMicros, random);
  };
}

/**
 * Returns the number of an account: the time at the start of its id. So an account's rows are found without a
 * look-up. Returns `undefined` for a text that is no id.
 */
export function accountNoOf(accountId: string): number | undefined {
  if (!isId(accountId)) return undefined;
  return microsOfId(accountId);
}

/** Returns the time in microseconds at the start of an id from `createIdsAt`. */
export function microsOfId(id: string): number {
  return Number.parseInt(id.slice(0, TIME_DIGITS), ALPHABET.length);
}

/** Returns the least id of `createIdsAt` for a time. No id of that time or later is less. */
export function leastIdAt(micros: number | bigint): string {
  return idAt(micros, 0);
}

/** Tells whether a text has the form of an id. */
export function isId(text: string): boolean {
  return FORM.test(text);
}

function idAt(micros: number | bigint, random: number): string {
  const time = Math.min(Math.max(0, Number(micros)), LAST_MICROS);
  const digits = time.toString(ALPHABET.length).padStart(TIME_DIGITS, "0");
  return digits + random.toString(ALPHABET.length).padStart(RANDOM_DIGITS, "0");
}
