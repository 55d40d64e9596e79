import { FIRST_LOAD_ACCOUNT_NO } from "../data/bench-accounts.ts";
import { HttpConnection } from "./http-connection.ts";
import { pageRequest } from "./page-request.ts";

/** A request, and how long the body of its answer is. */
export type Target = { readonly request: Buffer; readonly bodyLength: number };

/** The part of the contract's page that is looked at. */
export type Page = {
  readonly data: readonly { readonly id: string; readonly recorded_at: string }[];
  readonly pagination: { readonly has_more: boolean; readonly next_cursor: string };
};

const PAGE_SIZE = 50;

/**
 * Reads the first two pages of every account once: they are what the load asks for over and over, half of
 * it with a cursor. Throws unless they are what they should be.
 */
export async function prepareTargets(
  port: number,
  accounts: number,
  concurrency: number,
): Promise<Target[]> {
  const targets: Target[] = [];
  let next = 0;
  const work = async () => {
    const connection = new HttpConnection(port);
    while (next < accounts) {
      const place = next++;
      const accountNo = FIRST_LOAD_ACCOUNT_NO + place;
      const first = await readTarget(connection, pageRequest(accountNo));
      const cursor = encodeURIComponent(first.page.pagination.next_cursor);
      const second = await readTarget(connection, pageRequest(accountNo, `?cursor=${cursor}`));
      checkOrder(first.page, second.page);
      // First and second pages lie half a turn apart, so that no account is asked twice in a row.
      targets[place] = place % 2 === 0 ? first.target : second.target;
      targets[place + accounts] = place % 2 === 0 ? second.target : first.target;
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return targets;
}

async function readTarget(connection: HttpConnection, request: Buffer) {
  const { status, body } = await connection.send(request);
  if (status !== 200) throw new Error(`a page was answered with ${status}: ${body.toString()}`);
  const page: Page = JSON.parse(body.toString());
  if (page.data.length !== PAGE_SIZE || !page.pagination.has_more) {
    throw new Error(
      `a page has ${page.data.length} activities, has_more: ${page.pagination.has_more}`,
    );
  }
  return { page, target: { request, bodyLength: body.length } };
}

function checkOrder(first: Page, second: Page): void {
  const times = [...first.data, ...second.data].map((activity) => activity.recorded_at);
  const isDescending = times.every((time, index) => index === 0 || time < (times[index - 1] ?? ""));
  if (!isDescending) throw new Error("two pages of a feed are not in its order");
}
