/** Returns milliseconds since 1970. Receivers see this clock. In workflows, Temporal replaces it with its own. */
export const wallClockMs = (): number => Date.now();
