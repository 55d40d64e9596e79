/**
 * The outcome of one delivery of an event.
 *
 * - `handled`: the work was done now.
 * - `seen_before`: an earlier delivery did the work.
 * - `in_progress`: another delivery's work is running and may still fail. Do not answer 2xx.
 * - `claim_lost`: the work ended after its lease, and another delivery took the claim. That delivery may have done the
 *   work too.
 */
export type OnceOutcome = "handled" | "seen_before" | "in_progress" | "claim_lost";

/** The record of an event, and its time. */
export interface RecordTime {
  readonly record: string;
  /** When the record changed: ISO 8601, later for each change. */
  readonly time: string;
}

/** The part of the context that all work gets. */
export interface Freshness {
  /** True if a newer event of the same type and record was handled before. Then this event is out of date. */
  readonly stale: boolean;
}

/** Remembers which events were handled. It passes a `Context` to the work. */
export interface OnceStore<Context> {
  /** Runs `work` unless the event was handled before. Rejects with the error of `work`. */
  runOnce(
    eventId: string,
    work: (context: Context) => Promise<void>,
    of?: RecordTime,
  ): Promise<OnceOutcome>;
  /** Deletes at most `limit` expired ids. Returns their number. */
  deleteExpired(limit: number): Promise<number>;
}

/** Returns whether an event is older than the newest time that the store keeps of its record. */
export function isStale(of: RecordTime | undefined, newest: string | undefined): boolean {
  return of !== undefined && newest !== undefined && newest > of.time;
}

/** Thirty days: longer than the sender's automatic retries, to cover manual retries. */
const DEFAULT_KEEP_SECONDS = 30 * 24 * 60 * 60;
/** A hundred years. Databases cannot add a much longer time. */
const MAX_KEEP_SECONDS = 36_500 * 24 * 60 * 60;

/** How long a store keeps handled ids. */
export interface KeepOptions {
  /** How many seconds a handled id is kept: above 0, at most 100 years. Default 30 days. */
  readonly keepSeconds?: number | undefined;
}

/** Returns how long a handled id is kept, in milliseconds. Throws a RangeError if it is not above 0, or too long. */
export function keepMsOf({ keepSeconds = DEFAULT_KEEP_SECONDS }: KeepOptions): number {
  return checkedMs("keepSeconds", keepSeconds, MAX_KEEP_SECONDS);
}

/** Returns an option's seconds in whole milliseconds, at least 1: Redis and SQLite refuse other times. */
export function checkedMs(option: string, seconds: number, maxSeconds: number): number {
  if (!(seconds > 0 && seconds <= maxSeconds)) {
    throw new RangeError(`${option} accepts a number above 0, at most ${maxSeconds}.`);
  }
  return Math.ceil(seconds * 1000);
}
