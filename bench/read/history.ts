import mysql from "mysql2/promise";
import { HISTORY_ACCOUNT_NO } from "../data/bench-accounts.ts";
import { type Answer, HttpConnection } from "../load/http-connection.ts";
import { quantiles, secondsSince, sharedNowMs } from "../measure/sample.ts";
import { grouped } from "../report/table.ts";
import type { Bench } from "../run/bench.ts";
import { PAGE_SIZE, pageOf, pageRequest } from "./page.ts";

/** How long the first, a middle and the last page of the long history take, one request at a time. */
export type PageLatency = {
  readonly order: string;
  readonly firstMs: number;
  readonly middleMs: number;
  readonly lastMs: number;
  /** Reading all of it in pages of 100. */
  readonly recordsPerSecond: number;
};

/** Asks for a page of the history. */
type Ask = (query: string) => Promise<Answer>;

/** Pages of the walk, the largest there are. */
const WALK_PAGE = 100;
const MOVE_CLOCK = "UPDATE account SET feed_changed_at = feed_changed_at + 1 WHERE account_no = ?";
/** Below the account's limit of 120 a minute: all requests are one account's, and are counted like all others. */
const REQUESTS_AT_ONCE = 100;

/** Reads the history in both orders from end to end, then its places in turn, on the product at `port`. */
export async function measureHistory(
  { progress }: Bench,
  on: { readonly port: number; readonly databaseUrl: string },
  activities: number,
  samples: number,
): Promise<PageLatency[]> {
  const database = await mysql.createConnection(on.databaseUrl);
  const connection = new HttpConnection(on.port);
  let requests = 0;
  /** Before each request the feed's clock moves on, so that no page is known from before. */
  const getReady = async () => {
    await database.query(MOVE_CLOCK, [HISTORY_ACCOUNT_NO]);
    if (requests++ % REQUESTS_AT_ONCE === 0) await database.query("DELETE FROM rate_window");
  };
  const ask: Ask = (query) => connection.send(pageRequest(HISTORY_ACCOUNT_NO, query));
  const measured: PageLatency[] = [];
  for (const order of ["asc", "desc"]) {
    const label = `Reading ${grouped(activities)} activities, ${order}`;
    const measure = () => measureOrder(ask, getReady, order, activities, samples);
    measured.push(await progress.step(label, measure));
  }
  connection.close();
  await database.end();
  return measured;
}

async function measureOrder(
  ask: Ask,
  getReady: () => Promise<void>,
  order: string,
  activities: number,
  samples: number,
): Promise<PageLatency> {
  const startedMs = sharedNowMs();
  const { middle, last } = await walk(ask, getReady, order, activities);
  const recordsPerSecond = activities / secondsSince(startedMs);
  const places = ["", middle, last].map((cursor) => ({ cursor, durationsMs: [] as number[] }));
  for (let sample = 0; sample < samples; sample++) {
    for (const { cursor, durationsMs } of places) {
      await getReady();
      const beganMs = sharedNowMs();
      const { status } = await ask(queryOf(order, PAGE_SIZE, cursor));
      durationsMs.push(sharedNowMs() - beganMs);
      if (status !== 200) throw new Error(`a page was answered with ${status}`);
    }
  }
  const [firstMs = 0, middleMs = 0, lastMs = 0] = places.map(
    ({ durationsMs }) => quantiles(durationsMs).p50Ms,
  );
  return { order, firstMs, middleMs, lastMs, recordsPerSecond };
}

/**
 * Reads the long history from end to end as an export does; throws unless it is whole and in order. Returns the cursors
 * in the middle of it and before its last page.
 */
async function walk(
  ask: Ask,
  getReady: () => Promise<void>,
  order: string,
  expected: number,
): Promise<{ middle: string; last: string }> {
  const cursors = { middle: "", last: "" };
  let edge = "";
  let read = 0;
  for (let cursor = "", more = true; more; ) {
    await getReady();
    // The last page of 50 is to begin where a page of 50 ends.
    const limit = expected - read === WALK_PAGE ? PAGE_SIZE : WALK_PAGE;
    const { data, pagination } = pageOf(await ask(queryOf(order, limit, cursor)));
    for (const { recorded_at } of data) {
      if (edge !== "" && recorded_at > edge !== (order === "asc")) {
        throw new Error(`the history is not in its order at ${recorded_at}`);
      }
      edge = recorded_at;
    }
    read += data.length;
    more = pagination.has_more;
    cursor = pagination.next_cursor;
    if (cursors.middle === "" && read >= expected / 2) cursors.middle = cursor;
    if (more) cursors.last = cursor;
  }
  if (read === expected) return cursors;
  throw new Error(`the history has ${read} activities instead of ${expected}`);
}

function queryOf(order: string, limit: number, cursor: string): string {
  return `?order=${order}&limit=${limit}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
}
