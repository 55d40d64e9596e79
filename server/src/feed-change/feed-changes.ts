import type { Log } from "@activity/runtime/log";
import { startPeriodicJob } from "../common/periodic-job.ts";
import type { Pool } from "../database/pool.ts";
import { findChangedFeeds } from "./feed-change-store.ts";

/** The version of an account's feed: the time of its last change, in microseconds since 1970. */
export type FeedVersion = { readonly accountId: string; readonly version: number };

/** The changes of all accounts' feeds, for gateways and dashboard pages that wait. ADR 0052 */
export type FeedChanges = {
  /** Announces changes that this process committed. */
  note(feeds: readonly FeedVersion[]): void;
  /**
   * Yields at once the changes of the last 15 seconds that this process knows, even if it knows none. A process that
   * was idle knows none before its first look. Then yields each change that this process commits, and each change of
   * another process that it finds. Once a look has succeeded, yields an empty batch after each half second without a
   * change, unless the last look failed. Ends when `signal` is aborted, or when `end` or `close` is called.
   */
  watch(signal: AbortSignal): AsyncGenerator<readonly FeedVersion[], void>;
  /**
   * Resolves with a feed's version once it is later than the given one. Resolves with the given one after `ms`, when
   * `signal` is aborted, or when `end` or `close` is called.
   */
  later(feed: FeedVersion, ms: number, signal: AbortSignal): Promise<number>;
  /** Ends every open call of `watch` and `later`. Calls that begin afterwards may last until `close`. */
  end(): void;
  /** Ends every call of `watch` and `later`, also those that begin afterwards, and stops looking for changes. */
  close(): void;
};

/** How long changes are kept for a watch that begins: longer than a poll waits. */
const KEPT_MS = 15_000;
/** How often this process looks for changes of other processes, while there is a watch or a waiter. */
const LOOK_MS = 250;
/** A change may be committed this long after the time in its version. */
const COMMIT_MS = 5_000;
/** How often an idle watch yields an empty batch. A gateway that misses a few opens another watch. */
const HEARTBEAT_MS = 500;

type Watch = { readonly changed: Map<string, number>; hasEnded: boolean; wake: () => void };
/** Waits for one account's feed, so that a change of another account costs it nothing. */
type Waiter = { readonly given: FeedVersion; readonly end: (version: number) => void };

/** Creates the source of feed changes. While nobody waits it keeps nothing and does not look for changes. */
export function createFeedChanges(pool: Pool, log: Log, nowMs: () => number): FeedChanges {
  /** The last change of each account's feed, the oldest first. */
  const kept = new Map<string, { readonly version: number; readonly notedMs: number }>();
  const watches = new Set<Watch>();
  const waiters = new Map<string, Set<Waiter>>();
  const isIdle = () => watches.size === 0 && waiters.size === 0;
  let lookedMs: number | undefined;
  let hasFailed = false;
  let isClosed = false;
  const stopLooking = startPeriodicJob("looking for changed feeds", LOOK_MS, log, look);

  async function look(): Promise<void> {
    if (isIdle()) {
      lookedMs = undefined;
      kept.clear();
      return;
    }
    const beginMs = nowMs();
    for (const [accountId, { notedMs }] of kept) {
      if (notedMs > beginMs - KEPT_MS) break;
      kept.delete(accountId);
    }
    const spanMs = lookedMs === undefined ? KEPT_MS : beginMs - lookedMs + COMMIT_MS;
    const found = await findChangedFeeds(pool, spanMs).catch((cause) => {
      hasFailed = true;
      throw cause;
    });
    // Nobody waits any more. If a watch begins before the next look, that look must go back as far as a first look.
    if (isIdle()) {
      lookedMs = undefined;
      return;
    }
    note(found);
    lookedMs = beginMs;
    hasFailed = false;
  }

  function note(feeds: readonly FeedVersion[]): void {
    if (isIdle()) return;
    const notedMs = nowMs();
    for (const { accountId, version } of feeds) {
      const last = kept.get(accountId);
      if (last !== undefined && last.version >= version) continue;
      // Delete first, because `set` alone would keep the old position.
      kept.delete(accountId);
      kept.set(accountId, { version, notedMs });
      for (const { changed } of watches) changed.set(accountId, version);
      for (const { given, end } of waiters.get(accountId) ?? []) {
        if (version > given.version) end(version);
      }
    }
    for (const { changed, wake } of watches) if (changed.size > 0) wake();
  }

  async function* watch(signal: AbortSignal): AsyncGenerator<readonly FeedVersion[], void> {
    const own: Watch = { changed: new Map(), hasEnded: isClosed, wake: () => undefined };
    for (const [accountId, { version }] of kept) own.changed.set(accountId, version);
    // Also leaves when the call is aborted. `finally` never runs if the connection is lost while a batch is written,
    // because the write may then never end.
    const leave = () => {
      watches.delete(own);
      own.wake();
    };
    signal.addEventListener("abort", leave);
    watches.add(own);
    try {
      while (!signal.aborted && !own.hasEnded) {
        const feeds = [...own.changed].map(([accountId, version]) => ({ accountId, version }));
        own.changed.clear();
        yield feeds;
        // `wake` does nothing while a batch is sent, so check again for changes, the signal and the end.
        if (own.changed.size === 0 && !signal.aborted && !own.hasEnded) await untilWoken(own);
      }
    } finally {
      watches.delete(own);
      signal.removeEventListener("abort", leave);
    }
  }

  /**
   * Resolves at the next change, at the end, or at a heartbeat. Heartbeats continue while a look is slow. Without them,
   * gateways would connect again and again, and get the changes of the last 15 seconds each time. After a failed look
   * there are none, because another core may reach the database.
   */
  function untilWoken(own: Watch): Promise<void> {
    return new Promise((resolve) => {
      const timer = setInterval(() => {
        if (lookedMs !== undefined && !hasFailed) own.wake();
      }, HEARTBEAT_MS);
      own.wake = () => {
        clearInterval(timer);
        resolve();
      };
    });
  }

  async function later(given: FeedVersion, ms: number, signal: AbortSignal): Promise<number> {
    const last = kept.get(given.accountId);
    if (last !== undefined && last.version > given.version) return last.version;
    if (signal.aborted || isClosed) return given.version;
    const own = waiters.get(given.accountId) ?? new Set();
    waiters.set(given.accountId, own);
    return new Promise((resolve) => {
      const giveUp = () => waiter.end(given.version);
      const timer = setTimeout(giveUp, ms);
      signal.addEventListener("abort", giveUp);
      const waiter: Waiter = {
        given,
        end(version) {
          clearTimeout(timer);
          signal.removeEventListener("abort", giveUp);
          own.delete(waiter);
          if (own.size === 0) waiters.delete(given.accountId);
          resolve(version);
        },
      };
      own.add(waiter);
    });
  }

  function end(): void {
    for (const own of watches) {
      own.hasEnded = true;
      own.wake();
    }
    for (const own of waiters.values()) for (const one of own) one.end(one.given.version);
  }

  return {
    note,
    watch,
    later,
    end,
    close() {
      isClosed = true;
      end();
      stopLooking();
    },
  };
}
