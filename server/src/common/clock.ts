/** Milliseconds since 1970 by this machine's clock: for the log. What is stored has the database's time. */
export const wallClockMs = (): number => Date.now();
