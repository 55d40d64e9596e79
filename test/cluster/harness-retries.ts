import { setTimeout as wait } from "node:timers/promises";
import type { CrashStack } from "../delivery/crash/harness-stack.ts";
import { type Party, writeDonations } from "../delivery/crash/harness-writers.ts";

const EVENTS_AT_ONCE = 5;
const PAUSE_MS = 1_000;
/** Between the first attempt and the second. §6.4 */
const FIRST_DELAY_MS = 60_000;

/** Writes some events a second until it is told to stop, and returns how many. */
export function keepWriting(stack: CrashStack, party: Party): () => Promise<number> {
  let isOver = false;
  const writing = (async () => {
    let events = 0;
    while (!isOver) {
      events += (await writeDonations(stack, party, EVENTS_AT_ONCE)).donations;
      await wait(PAUSE_MS);
    }
    return events;
  })();
  return () => {
    isOver = true;
    return writing;
  };
}

/** A second attempt: when it was due, in milliseconds since 1970, and how much later it was made. */
export type Retry = { readonly dueMs: number; readonly lateMs: number };

/** Lists the second attempts that are on record of a stack's deliveries. */
export async function listRetries(stack: CrashStack): Promise<Retry[]> {
  const rows = await stack.query<{ ended: number; started: number }>(
    `SELECT (a.started_at + a.duration) / 1000 AS ended, b.started_at / 1000 AS started
     FROM delivery_attempt a JOIN delivery_attempt b
       ON b.account_no = a.account_no AND b.delivery_id = a.delivery_id AND b.run = a.run
     WHERE a.attempt = 1 AND b.attempt = 2`,
  );
  return rows.map(({ ended, started }) => {
    const dueMs = Number(ended) + FIRST_DELAY_MS;
    return { dueMs, lateMs: Number(started) - dueMs };
  });
}
