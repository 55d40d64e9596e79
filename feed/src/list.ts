import { type ConnectionOptions, parseConnection } from "./connection.ts";
import type { Activity, ActivityPage } from "./contract.ts";
import { type FilterOptions, type Moment, parseFilters, parseMoment } from "./filters.ts";
import { pauseAfter } from "./poller/pause.ts";
import { request } from "./request.ts";
import { sleep } from "./sleep.ts";

/** After this many failures in a row an export ends. Otherwise it could hang for hours unnoticed. */
const MAX_FAILURES = 10;
const PAGE_LIMIT = "100";

export interface ListOptions extends ConnectionOptions, FilterOptions {
  /** The earliest `recorded_at`, inclusive. Default: the account's first. */
  readonly since?: Moment | undefined;
  /** The end of the `recorded_at` range, exclusive. Default: the time of the call. */
  readonly until?: Moment | undefined;
}

/**
 * Reads history, oldest first, each record once. §4.4.1
 *
 * Throws a `FeedError`, with the code `unavailable` after ten failures in a row. Throws the signal's reason when that
 * aborts. A list that ends without an error is therefore complete.
 */
export function list(options: ListOptions): AsyncGenerator<Activity, void, undefined> {
  const connection = parseConnection(options);
  const { signal, onWait } = options;
  const query = {
    ...parseFilters(options),
    ...{ order: "asc", limit: PAGE_LIMIT, since: parseMoment("since", options.since) },
    until: parseMoment("until", options.until ?? new Date()),
  };
  return (async function* () {
    const seen = new Set<string>();
    let cursor: string | undefined;
    for (;;) {
      const get = { path: "/activity", query: { ...query, cursor } };
      const rules = { signal, onWait, maxFailures: MAX_FAILURES };
      const { body, headers } = await request<ActivityPage>(connection, get, rules);
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
