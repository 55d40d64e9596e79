import { HISTORY_ACCOUNT_NO } from "../data/bench-accounts.ts";
import { HttpConnection } from "../load/http-connection.ts";
import { pageRequest } from "../load/page-request.ts";
import type { Page } from "../load/workload.ts";
import type { FreshWindow } from "./fresh-window.ts";

export const Order = { Asc: "asc", Desc: "desc" } as const;
export type Order = (typeof Order)[keyof typeof Order];

/** Cursors in the middle of a feed and before its last page, found by reading all of it. */
export type Landmarks = {
  readonly middle: string;
  readonly last: string;
  readonly activities: number;
  readonly seconds: number;
};

/** Pages of the walk, the largest there are, and of what is measured afterwards. */
const WALK_PAGE = 100;
export const PAGE = 50;

/** Reads the long history from end to end as an export does; throws unless it is whole and in order. */
export async function walkHistory(
  port: number,
  order: Order,
  expected: number,
  freshWindow: FreshWindow,
): Promise<Landmarks> {
  const connection = new HttpConnection(port);
  const startedAt = performance.now();
  let activities = 0;
  let edge = "";
  let query = `?order=${order}`;
  let middle = "";
  let last = "";
  for (let more = true; more; ) {
    await freshWindow();
    // The last page of 50 is to begin where a page of 50 ends.
    const limit = expected - activities === WALK_PAGE ? PAGE : WALK_PAGE;
    const page = await readPage(connection, `${query}&limit=${limit}`);
    for (const { recorded_at } of page.data) {
      if (edge !== "" && recorded_at > edge !== (order === Order.Asc)) {
        throw new Error(`the history is not in its order at ${recorded_at}`);
      }
      edge = recorded_at;
    }
    activities += page.data.length;
    more = page.pagination.has_more;
    const { next_cursor } = page.pagination;
    query = `?order=${order}&cursor=${encodeURIComponent(next_cursor)}`;
    if (middle === "" && activities >= expected / 2) middle = next_cursor;
    if (more) last = next_cursor;
  }
  connection.close();
  if (activities !== expected) {
    throw new Error(`the history has ${activities} activities instead of ${expected}`);
  }
  return { middle, last, activities, seconds: (performance.now() - startedAt) / 1000 };
}

async function readPage(connection: HttpConnection, query: string): Promise<Page> {
  const { status, body } = await connection.send(pageRequest(HISTORY_ACCOUNT_NO, query));
  if (status !== 200) throw new Error(`a page was answered with ${status}: ${body.toString()}`);
  return JSON.parse(body.toString());
}
