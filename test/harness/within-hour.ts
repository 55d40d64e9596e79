import { setTimeout as wait } from "node:timers/promises";

const HOUR_MS = 3_600_000;
/** The last part of an hour. No test of an hour's numbers begins in it, and none needs longer on a busy machine. */
const LAST_MS = 20_000;

/** Waits for the next hour if this one ends soon, so that a test stays within one hour. */
export async function stayWithinHour(): Promise<void> {
  const leftMs = HOUR_MS - (Date.now() % HOUR_MS);
  if (leftMs < LAST_MS) await wait(leftMs + 1_000);
}
