import { DatabaseTimeoutError } from "../database/deadline.ts";
import { Task } from "./outbox-store.ts";

/**
 * The core takes a longer time without a search for an outage. Pollers search more often, unless Temporal starts
 * workflows slowly and keeps all pollers waiting.
 */
const OUTAGE_AFTER_MS = 10_000;
/**
 * For this long after an outage, no claim takes attempts whose leases have ended, because another dispatcher would make
 * them again. The dispatchers that made them now record them, in at most four seconds. The pollers' next sweep comes
 * after five seconds.
 */
const RECORDS_FIRST_MS = 4_500;
/**
 * If a page takes longer, the database is frozen or overloaded. A lease leaves the same four seconds to record its
 * attempt.
 */
const FROZEN_AFTER_MS = 4_000;
/**
 * For this long after an outage, a failed search begins no other outage. Otherwise, while searches fail often, no claim
 * would ever take the entries of dead dispatchers. A lease that ends within this time began at least 5.5 seconds before
 * the outage's end. So its attempt was recorded meanwhile, unless writes failed again.
 */
const NEXT_OUTAGE_AFTER_MS = 8_500;

/** Decides whether a claim may take attempts whose leases have ended. ADR 0028 */
export type EndedLeases = {
  /** Notes that the core could not store a lease or an attempt, because the database was away. */
  noteOutage(): void;
  /** Notes that a lease or an attempt was stored. */
  noteWritten(): void;
  /**
   * Runs a search, and tells it whether to include ended leases. Rejects if the database failed during a search for
   * first attempts that includes them.
   */
  search<Found>(task: Task, run: (includeEnded: boolean) => Promise<Found>): Promise<Found>;
  /** Reads a page of a search, and notes if the database was frozen. */
  page<Page>(read: () => Promise<Page>): Promise<Page>;
};

/** Creates the rule for one core. `nowMs` is a clock that never steps. */
export function createEndedLeases(nowMs: () => number): EndedLeases {
  /**
   * When a search last succeeded, and when a search for first attempts last followed an outage. A start counts as the
   * end of an outage: dispatchers may hold attempts that no core could record.
   */
  let [searchedMs, backMs] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  /**
   * The time until which later failures may move `backMs`: `NEXT_OUTAGE_AFTER_MS` after the outage's first
   * `noteWritten`.
   */
  let movesUntilMs = Number.POSITIVE_INFINITY;
  /** When a claim's lease or an attempt was last stored. */
  let writtenMs = Number.NEGATIVE_INFINITY;
  /**
   * The number of the database's failures, and how many of them came before the last successful search for first
   * attempts.
   */
  let [failures, followedFailures] = [0, 0];

  function noteFailure(): void {
    failures += 1;
    // The outage continues, so the time begins again: after the last failure, dispatchers need all of it to record
    // their attempts.
    if (nowMs() < Math.min(backMs + RECORDS_FIRST_MS, movesUntilMs)) backMs = nowMs();
  }

  return {
    noteOutage() {
      // Nothing was written lately, so this is a new outage, even soon after another.
      if (nowMs() - writtenMs >= RECORDS_FIRST_MS) {
        [backMs, movesUntilMs] = [nowMs(), Number.POSITIVE_INFINITY];
      }
      noteFailure();
    },
    noteWritten() {
      writtenMs = nowMs();
      movesUntilMs = Math.min(movesUntilMs, nowMs() + NEXT_OUTAGE_AFTER_MS);
    },
    async search(task, run) {
      const begunMs = nowMs();
      if (begunMs - searchedMs > OUTAGE_AFTER_MS) failures += 1;
      const failuresBefore = failures;
      const isFirst = task === Task.Attempt;
      const isBack =
        isFirst && failures > followedFailures && begunMs - backMs > NEXT_OUTAGE_AFTER_MS;
      const includeEnded = !isFirst || (!isBack && begunMs - backMs >= RECORDS_FIRST_MS);
      try {
        const found = await run(includeEnded);
        searchedMs = nowMs();
        if (!isFirst) return found;
        if (includeEnded && failures > failuresBefore) {
          throw new DatabaseTimeoutError("The database failed during the search.");
        }
        followedFailures = failuresBefore;
        if (isBack) {
          backMs = searchedMs;
          movesUntilMs = Number.POSITIVE_INFINITY;
        }
        return found;
      } catch (error) {
        noteFailure();
        throw error;
      }
    },
    async page(read) {
      const askedMs = nowMs();
      const page = await read();
      if (nowMs() - askedMs > FROZEN_AFTER_MS) failures += 1;
      return page;
    },
  };
}
