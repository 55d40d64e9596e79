/** Request limits count the last 60 seconds. §8 */
export const WINDOW_SECONDS = 60;
export const WINDOW_MICROS = WINDOW_SECONDS * 1_000_000;

/** Bytes of one admission's time in a ring. */
const TIME_BYTES = 8;

/** What remains of a limit. */
export type RateWindow = {
  /** Requests that would be admitted now. */
  readonly remaining: number;
  /** Whole seconds, rounded up, until `remaining` next grows: 0 to 60. */
  readonly resetSeconds: number;
};

/**
 * Reads a window from its ring of admissions. `admitted` counts all admissions that were ever written to the ring, so
 * it locates the oldest admission. `nowMicros` comes from the clock that wrote the ring.
 */
export function rateWindowFromRing(
  ring: Buffer,
  admitted: number,
  limit: number,
  nowMicros: number,
): RateWindow {
  const length = ring.length / TIME_BYTES;
  const oldest = admitted > limit ? admitted % limit : 0;
  const timeAt = (age: number) => readMicros(ring, ((oldest + age) % length) * TIME_BYTES);
  const expired = countExpired(length, timeAt, nowMicros - WINDOW_MICROS);
  const resetMicros = expired === length ? 0 : timeAt(expired) + WINDOW_MICROS - nowMicros;
  return {
    remaining: limit - (length - expired),
    resetSeconds: Math.min(WINDOW_SECONDS, Math.ceil(resetMicros / 1_000_000)),
  };
}

/** Counts the leading times at or before `edgeMicros`. Times ascend. */
function countExpired(length: number, timeAt: (age: number) => number, edgeMicros: number): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeAt(middle) <= edgeMicros) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Reads 8 big-endian bytes. A number is exact: times in microseconds stay below 2^53 until the year 2255. */
function readMicros(ring: Buffer, offset: number): number {
  return ring.readUInt32BE(offset) * 0x1_0000_0000 + ring.readUInt32BE(offset + 4);
}

/** The `RateLimit-Policy` field of the IETF draft: the account's limit. */
export function rateLimitPolicy(limit: number): string {
  return `"account";q=${limit};w=${WINDOW_SECONDS}`;
}

/** The `RateLimit` field of the IETF draft: what remains, and when it grows. */
export function rateLimit(window: RateWindow): string {
  return `"account";r=${window.remaining};t=${window.resetSeconds}`;
}
