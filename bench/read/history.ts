import mysql from "mysql2/promise";
import { HISTORY_ACCOUNT_NO } from "../data/bench-accounts.ts";
import { HttpConnection } from "../load/http-connection.ts";
import { quantiles, secondsSince, sharedNowMs } from "../measure/sample.ts";
import type { Bench } from "../run/bench.ts";
import { PAGE_SIZE, pageOf, pageRequest } from "./requests.ts";

/** Reads the history's pages in one order. */
type Ask = (limit: number, cursor: string) => ReturnType<HttpConnection["send"]>;
/** How the long history is read in both orders. */
export type History = Awaited<ReturnType<typeof measureHistory>>;

/** Pages of the walk, the largest there are. */
const WALK_PAGE = 100;
const MOVE_CLOCK = "UPDATE account SET feed_changed_at = feed_changed_at + 1 WHERE account_no = ?";
/** Below the account's limit of 120 a minute: all requests are one account's, and are counted like all others. */
const REQUESTS_AT_ONCE = 100;

/** Reads the history in both orders from end to end, then its places in turn, on the product at `port`. */
export async function measureHistory(
  { progress }: Bench,
  { port, databaseUrl }: { readonly port: number; readonly databaseUrl: string },
  activities: number,
  samples: number,
) {
  const database = await mysql.createConnection(databaseUrl);
  const connection = new HttpConnection(port);
  let requests = 0;
  /** Moves the feed's clock on, so that no page is known from before. */
  const getReady = async () => {
    await database.query(MOVE_CLOCK, [HISTORY_ACCOUNT_NO]);
    if (requests++ % REQUESTS_AT_ONCE === 0) await database.query("DELETE FROM rate_window");
  };
  const measureOrder = async (order: string) => {
    const ask: Ask = (limit, cursor) => {
      const from = cursor && `&cursor=${encodeURIComponent(cursor)}`;
      const query = `?order=${order}&limit=${limit}${from}`;
      return connection.send(pageRequest(HISTORY_ACCOUNT_NO, query));
    };
    const startedMs = sharedNowMs();
    const { middle, last } = await walk(ask, getReady, order, activities);
    const recordsPerSecond = activities / secondsSince(startedMs);
    const durationsMs: number[][] = [[], [], []];
    for (let sample = 0; sample < samples; sample++) {
      for (const [place, cursor] of ["", middle, last].entries()) {
        await getReady();
        const beganMs = sharedNowMs();
        const { status } = await ask(PAGE_SIZE, cursor);
        durationsMs[place]?.push(sharedNowMs() - beganMs);
        if (status !== 200) throw new Error(`a page was answered with ${status}`);
      }
    }
    const [firstMs = 0, middleMs = 0, lastMs = 0] = durationsMs.map((ms) => quantiles(ms).p50Ms);
    return { order, firstMs, middleMs, lastMs, recordsPerSecond };
  };
  const measure = (order: string) =>
    progress.step(`Reading ${activities} activities, ${order}`, () => measureOrder(order));
  const measured = [await measure("asc"), await measure("desc")];
  connection.close();
  await database.end();
  return measured;
}

/**
 * Reads the long history from end to end as an export does; throws unless it is whole and in order. Returns the cursors
 * in the middle of it and before its last page.
 */
async function walk(ask: Ask, getReady: () => Promise<void>, order: string, expected: number) {
  let [middle, last, edge, read] = ["", "", "", 0];
  for (let cursor = "", more = true; more; ) {
    await getReady();
    // The last page of 50 is to begin where a page of 50 ends.
    const limit = expected - read === WALK_PAGE ? PAGE_SIZE : WALK_PAGE;
    const { data, pagination } = pageOf(await ask(limit, cursor));
    for (const { recorded_at } of data) {
      if (edge !== "" && recorded_at > edge !== (order === "asc")) {
        throw new Error(`the history is not in its order at ${recorded_at}`);
      }
      edge = recorded_at;
    }
    read += data.length;
    more = pagination.has_more;
    cursor = pagination.next_cursor;
    if (middle === "" && read >= expected / 2) middle = cursor;
    if (more) last = cursor;
  }
  if (read !== expected) throw new Error(`the history has ${read} activities, not ${expected}`);
  return { middle, last };
}
