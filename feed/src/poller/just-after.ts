/**
 * Returns the microsecond after a `recorded_at`, which has six fractional digits.
 *
 * All later records of the account have the returned `recorded_at` or a later one. This machine's clock is not used: it
 * may be wrong.
 */
export function justAfter(recordedAt: string): string {
  const digits = recordedAt.length - "123Z".length;
  const micros = Number(recordedAt.slice(digits, -1)) + 1;
  const ms = Date.parse(`${recordedAt.slice(0, digits)}Z`) + Math.floor(micros / 1_000);
  return `${new Date(ms).toISOString().slice(0, -1)}${String(micros % 1_000).padStart(3, "0")}Z`;
}
