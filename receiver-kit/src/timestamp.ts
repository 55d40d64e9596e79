import { VerificationError } from "./verification-error.ts";

/** How far a delivery's timestamp may be from the receiver's clock, either way. */
export const DEFAULT_TOLERANCE_SECONDS = 5 * 60;

// Matches digits only: `Number` and `parseInt` also accept "1e9", " 12 ", "0x1f" or "123abc".
const DIGITS = /^[0-9]{1,15}$/;

/**
 * Checks that a timestamp header is within `toleranceSeconds` of `nowMs`.
 *
 * Throws `malformed_timestamp`, `timestamp_too_old` or `timestamp_too_new`. A tolerance that is not a number refuses
 * every delivery.
 */
export function checkTimestamp(timestamp: string, nowMs: number, toleranceSeconds: number): void {
  if (!DIGITS.test(timestamp)) throw new VerificationError("malformed_timestamp");
  const ageSeconds = Math.floor(nowMs / 1000) - Number(timestamp);
  if (Math.abs(ageSeconds) <= toleranceSeconds) return;
  throw new VerificationError(ageSeconds < 0 ? "timestamp_too_new" : "timestamp_too_old");
}
