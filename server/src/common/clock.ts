/** Milliseconds since 1970 by this machine's clock, for logs. Stored times come from the database. */
export const wallClockMs = (): number => Date.now();
