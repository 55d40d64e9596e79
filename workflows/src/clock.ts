/** Milliseconds since 1970, as receivers see them in an attempt's timestamp. */
export const wallClockMs = (): number => Date.now();
