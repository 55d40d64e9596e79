/**
 * What became of one delivery of an event.
 *
 * `handled`: the work was done now. `seen_before`: it was done by an earlier delivery.
 * `in_progress`: another delivery is at it and may still fail, so this one must not be answered 2xx.
 * `claim_lost`: the work ended after its lease had run out, and another delivery may have done it too.
 */
export type OnceOutcome = "handled" | "seen_before" | "in_progress" | "claim_lost";

/** The record that an event tells of. */
export interface RecordTime {
  readonly record: string;
  /** When it changed: ISO 8601, later for each change. */
  readonly time: string;
}

/** What all work gets. */
export interface Freshness {
  /** True when a newer event of the same record came before: what this one says is out of date. */
  readonly stale: boolean;
}

/** Remembers which events were handled. `Context` is what the work gets from it. */
export interface OnceStore<Context> {
  /** Runs `work` unless the event was handled before. Rejects with what `work` rejects with. */
  runOnce(
    eventId: string,
    work: (context: Context) => Promise<void>,
    of?: RecordTime,
  ): Promise<OnceOutcome>;
  /** Forgets at most `limit` ids whose time is over. Returns how many. */
  deleteExpired(limit: number): Promise<number>;
}

/** Compares an event's time with the newest of its record, as a store keeps it. */
export function isStale(of: RecordTime | undefined, newest: string | undefined): boolean {
  return of !== undefined && newest !== undefined && newest > of.time;
}

/** How long a handled id is kept: the sender's retry horizon with manual retries in reserve. */
export const DEFAULT_KEEP_SECONDS = 30 * 24 * 60 * 60;

/** How long a store remembers. */
export interface KeepOptions {
  /** How long a handled id is remembered. Default 30 days. */
  readonly keepSeconds?: number | undefined;
}
