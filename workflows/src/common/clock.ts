/** Milliseconds since 1970: of receivers in an attempt's timestamp; in workflows Temporal puts its own in place. */
export const wallClockMs = (): number => Date.now();
