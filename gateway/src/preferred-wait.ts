/** The longest wait in seconds. It is below the 15 seconds after which clients give up. §4.4.8 */
const MAX_WAIT_SECONDS = 10;

/** One preference: a name, and a value if there is one. Parameters after a semicolon are ignored. */
const PREFERENCE =
  /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*(?:=\s*(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)|"([^"\\]*)")\s*)?(?:;.*)?$/;
/**
 * Matches each preference. Commas in quotes separate nothing. A text matches in one way only, so the time is
 * proportional to the text's length.
 */
const PREFERENCES = /(?:"(?:[^"\\]|\\.?)*(?:"|$)|[^",])+/g;
const SECONDS = /^\d+$/;

/**
 * Returns how many seconds the `Prefer` headers ask to wait for a record, at most 10. Returns `undefined` if there is
 * no `wait` or it is malformed. Of several, the first counts. RFC 7240 §2, §4.3
 */
export function preferredWait(prefer: readonly string[]): number | undefined {
  for (const preference of prefer.flatMap((value) => value.match(PREFERENCES) ?? [])) {
    const [, name, token, quoted] = PREFERENCE.exec(preference) ?? [];
    if (name?.toLowerCase() !== "wait") continue;
    const text = token ?? quoted ?? "";
    const seconds = Math.min(Number(text), MAX_WAIT_SECONDS);
    return SECONDS.test(text) && seconds > 0 ? seconds : undefined;
  }
  return undefined;
}
