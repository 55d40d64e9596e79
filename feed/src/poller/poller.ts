import type { Connection, WaitReason } from "../connection.ts";
import type { ActivityPage } from "../contract.ts";
import type { FilterOptions } from "../filters.ts";
import { request } from "../request.ts";
import { sleep } from "../sleep.ts";
import { justAfter } from "./just-after.ts";
import { type Pause, pauseAfter } from "./pause.ts";
import { createSharedWork } from "./shared-work.ts";

const PAGE_LIMIT = "100";
/** What the service is asked to wait for records; a third of the time-out is left for the answer. */
const WAIT_SECONDS = 10;
/** Pages for those who read behind the first of several followers: at most 1,600 records. */
const MAX_KEPT_PAGES = 16;
/** Who is further behind asks again: a record may have been refunded since. */
const KEPT_FOR_MS = 60_000;

/** A place in the feed: where the stream began, and after which page. */
export interface Position {
  /** Undefined: from the account's first record. */
  readonly since: string | undefined;
  /** Undefined: before the first page. */
  readonly cursor: string | undefined;
}

export type OnWait = (reason: WaitReason, ms: number) => void;

/** Reads the feed of one key and its filters for all followers in this process. */
export interface Poller {
  /** Finds the end of the feed: what is stored from now on comes after it. */
  findEnd(signal: AbortSignal | undefined): Promise<Position>;
  /** Returns the next page, an empty one too. Who waits at the same position shares the request. */
  next(position: Position, signal: AbortSignal | undefined): Promise<ActivityPage>;
  /** Has those who pause ask at once, at most once a second. */
  wake(): void;
  /** Followers that are told why a request waits. */
  readonly followers: Set<OnWait>;
}

export function createPoller(connection: Connection, filters: FilterOptions): Poller {
  const work = createSharedWork();
  const followers = new Set<OnWait>();
  const pauses = new Map<string, { readonly pause: Pause; fromMs: number; wakes: number }>();
  const kept = new Map<string, { readonly page: ActivityPage; readonly untilMs: number }>();
  const sleepers = new Set<() => void>();
  let wakes = 0;
  /** Where those who began at the end of the feed are, and the last record that they were given. */
  let end: { readonly position: Position; readonly lastId: string | undefined } | undefined;

  const onWait: OnWait = (reason, ms) => {
    for (const tell of followers) tell(reason, ms);
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
    const cursor = body.pagination.next_cursor ?? undefined;
    pauses.delete(name);
    pauses.set(nameOf({ ...position, cursor }), { pause, fromMs, wakes: startedWakes });
    if (end && name === nameOf(end.position)) {
      end = { position: { ...position, cursor }, lastId: body.data.at(-1)?.id ?? end.lastId };
    }
    if (body.data.length > 0 && followers.size > 1) keep(name, body);
    return body;
  }

  function keep(name: string, page: ActivityPage): void {
    kept.set(name, { page, untilMs: performance.now() + KEPT_FOR_MS });
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_KEPT_PAGES) return;
      kept.delete(oldest);
    }
  }

  async function readEnd(signal: AbortSignal): Promise<Position> {
    const get = { path: "/activity", query: { ...filters, order: "desc", limit: "1" } };
    const { body } = await request<ActivityPage>(connection, get, { signal, onWait });
    const [newest] = body.data;
    // Who joins those at the end shares their requests, unless they are behind.
    if (end && end.lastId === newest?.id) return end.position;
    const position = { since: newest && justAfter(newest.recorded_at), cursor: undefined };
    end = { position, lastId: newest?.id };
    return position;
  }

  return {
    followers,
    findEnd: (signal) => work.join("end", readEnd, signal),
    async next(position, signal) {
      signal?.throwIfAborted();
      const name = nameOf(position);
      const known = kept.get(name);
      if (known && performance.now() < known.untilMs) return known.page;
      return work.join(name, (ended) => poll(name, position, ended), signal);
    },
    wake() {
      wakes += 1;
      for (const wake of [...sleepers]) wake();
    },
  };
}

const nameOf = ({ since, cursor }: Position) => JSON.stringify([since ?? null, cursor ?? null]);
