import { type ConnectionOptions, parseConnection } from "./connection.ts";
import type { Activity, ActivityPage } from "./contract.ts";
import { type FilterOptions, type Moment, parseFilters, parseMoment } from "./filters.ts";
import { justAfter } from "./poller/just-after.ts";
import { pauseAfter } from "./poller/pause.ts";
import { request } from "./request.ts";
import { sleep } from "./sleep.ts";

/** After this many failures in a row a list ends. Without this limit, it could hang for hours unnoticed. */
const MAX_FAILURES = 10;
const PAGE_LIMIT = "100";

export interface ListOptions extends ConnectionOptions, FilterOptions {
  /** The earliest `recorded_at`, inclusive. Default: the account's first. */
  readonly since?: Moment | undefined;
  /** The end of the `recorded_at` range, exclusive. Default: just after the newest record when the list begins. */
  readonly until?: Moment | undefined;
}

/**
 * Reads history, oldest first, each record once. §4.4.1
 *
 * Throws a `FeedError`, with the code `unavailable` after ten failures in a row. If `signal` aborts, throws its reason.
 * A list that ends without an error is therefore complete.
 */
export function list(options: ListOptions): AsyncGenerator<Activity, void, undefined> {
  const connection = parseConnection(options);
  const { signal, onWait } = options;
  const query = { ...parseFilters(options), since: parseMoment("since", options.since) };
  const given = parseMoment("until", options.until);
  const rules = { signal, onWait, maxFailures: MAX_FAILURES };
  const read = (more: Readonly<Record<string, string | undefined>>) =>
    request<ActivityPage>(connection, { path: "/activity", query: { ...query, ...more } }, rules);

  /** Returns the end of the list's range. This machine's clock may be behind the service's, so it is not used. */
  async function findUntil(): Promise<string | undefined> {
    const [newest] = (await read({ order: "desc", limit: "1" })).body.data;
    return newest && justAfter(newest.recorded_at);
  }

  return (async function* () {
    const until = given ?? (await findUntil());
    if (until === undefined) return;
    const seen = new Set<string>();
    let cursor: string | undefined;
    for (;;) {
      const { body, headers } = await read({ order: "asc", limit: PAGE_LIMIT, until, cursor });
      for (const activity of body.data) if (!seen.has(activity.id)) yield activity;
      // A page can repeat only records of the page before it.
      seen.clear();
      for (const { id } of body.data) seen.add(id);
      if (!body.pagination.has_more) return;
      cursor = body.pagination.next_cursor ?? undefined;
      await sleep(pauseAfter({ page: body, headers, elapsedMs: 0, random: 0 }).ms, signal);
    }
  })();
}
