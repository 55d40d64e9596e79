/**
 * Returns the microsecond after a `recorded_at`, which has six fractional digits.
 *
 * An account's later records are all stored later, so this is where they begin. The clock of this
 * machine, which may be wrong, is not asked.
 */
export function justAfter(recordedAt: string): string {
  const digits = recordedAt.length - "123Z".length;
  const micros = Number(recordedAt.slice(digits, -1)) + 1;
  const ms = Date.parse(`${recordedAt.slice(0, digits)}Z`) + Math.floor(micros / 1_000);
  return `${new Date(ms).toISOString().slice(0, -1)}${String(micros % 1_000).padStart(3, "0")}Z`;
}
