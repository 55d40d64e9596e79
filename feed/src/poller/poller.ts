import type { Connection, WaitReason } from "../connection.ts";
import type { ActivityPage } from "../contract.ts";
import type { FilterOptions } from "../filters.ts";
import { MAX_RETRY_AFTER_MS, request } from "../request.ts";
import { sleep } from "../sleep.ts";
import { justAfter } from "./just-after.ts";
import { type Pause, pauseAfter } from "./pause.ts";
import { createSharedWork } from "./shared-work.ts";

const PAGE_LIMIT = "100";
/** How long the service may wait for records. A third of the timeout is left for its answer. */
const WAIT_SECONDS = 10;
/** How many pages are kept for followers that are behind the first one. They hold at most 1,600 records. */
const MAX_KEPT_PAGES = 16;
/** How long a page is kept. An older page is requested again, because a record may have been refunded since. */
const KEPT_FOR_MS = 60_000;

/** A position in the feed: the start of the stream, and the cursor after the last page. */
export interface Position {
  /** Undefined: from the account's first record. */
  readonly since: string | undefined;
  /** Undefined: before the first page. */
  readonly cursor: string | undefined;
}

/** The end of the feed, for a follower that begins now. */
export interface End {
  /** The position to continue from. Followers may share it, so its `since` can be of an earlier start. */
  readonly position: Position;
  /** Undefined: the account has no record yet. */
  readonly start: string | undefined;
}

/** A pause, and when it began. */
interface LastPause {
  readonly pause: Pause;
  readonly fromMs: number;
  readonly wakes: number;
}

export type OnWait = (reason: WaitReason, ms: number) => void;

/** Reads the feed for all followers of this process with the same address, key, filters and `fetch`. */
export interface Poller {
  /** Returns the end of the feed. Records that are stored from now on come after it. */
  findEnd(signal: AbortSignal | undefined): Promise<End>;
  /** Returns the next page, which may be empty. Followers at the same position share the request. */
  next(position: Position, signal: AbortSignal | undefined): Promise<ActivityPage>;
  /** Shortens all pauses to the time that the rest of the limit requires between requests, at least a second. */
  wake(): void;
  /** One function for each follower. All are called when a request waits. */
  readonly followers: Set<OnWait>;
}

export function createPoller(connection: Connection, filters: FilterOptions): Poller {
  const work = createSharedWork();
  const followers = new Set<OnWait>();
  const pauses = new Map<string, LastPause>();
  const kept = new Map<string, { readonly page: ActivityPage; readonly untilMs: number }>();
  const sleepers = new Set<() => void>();
  let wakes = 0;
  /** The position of followers that began at the end of the feed, and their last record. */
  let end: { readonly position: Position; readonly lastId: string | undefined } | undefined;

  const onWait: OnWait = (reason, ms) => {
    for (const notify of followers) notify(reason, ms);
  };

  async function pauseAt(name: string, signal: AbortSignal): Promise<void> {
    const last = pauses.get(name);
    if (!last) return;
    const left = (ms: number) => Math.max(0, last.fromMs + ms - performance.now());
    if (last.wakes === wakes) await sleep(left(last.pause.ms), signal, sleepers);
    if (last.wakes !== wakes) await sleep(left(last.pause.wakeMs), signal);
  }

  async function poll(name: string, position: Position, signal: AbortSignal) {
    await pauseAt(name, signal);
    const query = { ...filters, order: "asc", limit: PAGE_LIMIT, ...position };
    const get = { path: "/activity", query, waitSeconds: WAIT_SECONDS };
    const [startedMs, startedWakes] = [performance.now(), wakes];
    const { body, headers } = await request<ActivityPage>(connection, get, { signal, onWait });
    const fromMs = performance.now();
    const elapsedMs = fromMs - startedMs;
    const pause = pauseAfter({ page: body, headers, elapsedMs, random: Math.random() });
    const cursor = body.pagination.next_cursor ?? position.cursor;
    pauses.delete(name);
    rememberPause(nameOf({ ...position, cursor }), { pause, fromMs, wakes: startedWakes });
    if (end && name === nameOf(end.position)) {
      end = { position: { ...position, cursor }, lastId: body.data.at(-1)?.id ?? end.lastId };
    }
    if (body.data.length > 0 && followers.size > 1) keep(name, body);
    return body;
  }

  function rememberPause(name: string, last: LastPause): void {
    // Deletes before it sets, so that the oldest pauses come first. It then forgets old ones: a pause that is over has
    // no effect, and its follower may have left.
    pauses.delete(name);
    pauses.set(name, last);
    for (const [oldest, { fromMs }] of pauses) {
      if (last.fromMs - fromMs <= MAX_RETRY_AFTER_MS) return;
      pauses.delete(oldest);
    }
  }

  function keep(name: string, page: ActivityPage): void {
    kept.set(name, { page, untilMs: performance.now() + KEPT_FOR_MS });
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_KEPT_PAGES) return;
      kept.delete(oldest);
    }
  }

  async function readEnd(signal: AbortSignal): Promise<End> {
    // Reads without the filters, because they may change later. Even then the stream must not begin before now.
    const get = { path: "/activity", query: { order: "desc", limit: "1" } };
    const { body } = await request<ActivityPage>(connection, get, { signal, onWait });
    const [newest] = body.data;
    const start = newest && justAfter(newest.recorded_at);
    // A new follower gets the position of the followers that began at the end earlier, unless they are behind.
    if (end === undefined || end.lastId !== newest?.id) {
      end = { position: { since: start, cursor: undefined }, lastId: newest?.id };
      // A page kept for that position may hold records that were stored before now and are hidden by now.
      kept.delete(nameOf(end.position));
    }
    return { position: end.position, start };
  }

  return {
    followers,
    findEnd: (signal) => work.join("end", readEnd, signal),
    async next(position, signal) {
      signal?.throwIfAborted();
      const name = nameOf(position);
      const recent = kept.get(name);
      if (recent && performance.now() < recent.untilMs) return recent.page;
      return work.join(name, (ended) => poll(name, position, ended), signal);
    },
    wake() {
      wakes += 1;
      for (const wake of [...sleepers]) wake();
    },
  };
}

const nameOf = ({ since, cursor }: Position) => JSON.stringify([since ?? null, cursor ?? null]);
