/**
 * Returns milliseconds since 1970. Receivers see times of this clock. In workflows, Temporal replaces `Date.now` with
 * its own clock.
 */
export const wallClockMs = (): number => Date.now();
