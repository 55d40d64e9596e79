import { callBack } from "./call-back.ts";
import type { Checkpoint } from "./checkpoint/checkpoint.ts";
import { memory } from "./checkpoint/memory.ts";
import { loadProgress, type Progress } from "./checkpoint/progress.ts";
import { type ConnectionOptions, invalidOption, parseConnection } from "./connection.ts";
import type { Activity } from "./contract.ts";
import { FeedError } from "./feed-error.ts";
import { type FilterOptions, type Moment, parseFilters, parseMoment } from "./filters.ts";
import { createKeyCheck } from "./key-ending.ts";
import { joinPoller } from "./poller/join-poller.ts";
import type { Poller } from "./poller/poller.ts";

export interface FollowOptions extends ConnectionOptions, FilterOptions {
  /**
   * The earliest `recorded_at`, inclusive and fixed for the stream. Default: just after the newest record at the
   * first start. A checkpoint keeps this time.
   */
  readonly since?: Moment | undefined;
  /** Keeps the position across restarts. Default: `memory()`. */
  readonly checkpoint?: Checkpoint | undefined;
  /**
   * Called at the start and once a day with the days until the key ends, if they are 14 or fewer. It may be async. Its
   * failure is logged.
   */
  readonly onKeyEnding?: ((days: number) => unknown) | undefined;
}

/** A stream of activity for one `for await`. */
export interface Follower extends AsyncGenerator<Activity, void, undefined> {
  /**
   * Requests the next page now, but at most once a second, and less often after half of the account's limit is used.
   * Call it from a webhook's handler.
   */
  wake(): void;
}

/**
 * Follows the feed: each record once, oldest first, as long as the program runs. §4.4
 *
 * A record counts as processed when the loop asks for the next one. Then the checkpoint is saved. If the loop's body
 * throws or breaks, the next start gives the same record again.
 *
 * If the service does not accept the saved cursor any more, the stream continues without the cursor, at the last
 * processed record.
 *
 * Ends without an error when `signal` aborts. Throws a `FeedError` if a retry does not help. Errors of the checkpoint
 * are thrown unchanged.
 */
export function follow(options: FollowOptions): Follower {
  const connection = parseConnection(options);
  const filters = parseFilters(options);
  const since = parseMoment("since", options.since);
  const { signal, checkpoint = memory(), onWait = () => {}, onKeyEnding } = options;
  expectCheckpoint(checkpoint);
  let poller: Poller | undefined;

  async function* run(): AsyncGenerator<Activity, void, undefined> {
    if (signal?.aborted) return;
    // Passes a new function for each follower, because the set of followers would hold the same function only once.
    const seat = joinPoller(connection, filters, (reason, ms) => {
      void callBack("onWait", () => onWait(reason, ms));
    });
    poller = seat.poller;
    const ended = new AbortController();
    const end = () => ended.abort();
    signal?.addEventListener("abort", end, { once: true });
    const checkKey = createKeyCheck(connection, onKeyEnding, ended.signal);
    try {
      const progress = await loadProgress(checkpoint, filters, since);
      const saved = progress.position();
      await progress.begin(
        saved ? { position: saved, start: saved.since } : await poller.findEnd(signal),
      );
      for (;;) {
        checkKey();
        yield* nextPage(poller, progress);
      }
    } catch (error) {
      if (!signal?.aborted || error !== signal.reason) throw error;
    } finally {
      signal?.removeEventListener("abort", end);
      end();
      seat.leave();
    }
  }

  async function* nextPage(from: Poller, progress: Progress) {
    const position = progress.position() ?? { since, cursor: undefined };
    const page = await from.next(position, signal).catch((error) => {
      if (position.cursor === undefined || !isInvalidCursor(error)) throw error;
    });
    if (page === undefined) return progress.restart();
    const { data, pagination } = page;
    const cursor = pagination.next_cursor ?? position.cursor;
    const fresh = data.filter(({ id }) => !progress.isProcessed(id));
    for (const activity of fresh) {
      signal?.throwIfAborted();
      yield activity;
      await progress.note(activity, activity === fresh.at(-1) ? cursor : undefined);
    }
    if (fresh.length === 0 && cursor !== position.cursor) await progress.note(undefined, cursor);
  }

  return Object.assign(run(), { wake: () => poller?.wake() });
}

/** Refuses a value without `load` and `save`, because JavaScript may pass anything, such as a path. */
function expectCheckpoint(value: Partial<Checkpoint> | null): void {
  if (typeof value?.load === "function" && typeof value.save === "function") return;
  throw invalidOption("checkpoint must have the functions load and save, as file(path) has.");
}

/** Tells whether the service does not accept a cursor any more, for example because its key was retired. §7 */
function isInvalidCursor(error: unknown): boolean {
  return error instanceof FeedError && error.code === "invalid_cursor";
}
