/** The longest wait in seconds: below the 15 seconds after which clients give a request up. §4.4.8 */
export const MAX_WAIT_SECONDS = 10;

/** One preference: a name, and a value where there is one; parameters behind a semicolon mean nothing here. */
const PREFERENCE =
  /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*(?:=\s*(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)|"([^"\\]*)")\s*)?(?:;.*)?$/;
const SECONDS = /^\d{1,9}$/;

/**
 * Returns for how many seconds a client prefers to wait for a record, at most 10, by its `Prefer` headers. Returns
 * `undefined` without a wait, and where the preference is malformed. Of several the first counts. RFC 7240 §2, §4.3
 */
export function preferredWait(prefer: readonly string[]): number | undefined {
  for (const preference of prefer.flatMap((value) => value.split(","))) {
    const [, name, token, quoted] = PREFERENCE.exec(preference) ?? [];
    if (name?.toLowerCase() !== "wait") continue;
    const text = token ?? quoted ?? "";
    const seconds = Math.min(Number(text), MAX_WAIT_SECONDS);
    return SECONDS.test(text) && seconds > 0 ? seconds : undefined;
  }
  return undefined;
}
