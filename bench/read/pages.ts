import type { Connection } from "mysql2/promise";
import type { AccountRange } from "../data/bench-accounts.ts";
import { readRecordedTimes } from "../data/feed.ts";
import { forEachAccount, PAGE_SIZE, pageOf, pageRequest, type Requests } from "./requests.ts";

/** One page in a hundred is parsed and checked, to save processor time. */
const LOOKED_INTO = 100;

/** Reads the first page of each account. Later answers must have the same length. */
export async function prepareFirstPages(port: number, accounts: AccountRange): Promise<Requests> {
  const pages: { readonly request: Buffer; readonly length: number }[] = [];
  await forEachAccount(port, accounts, async (connection, accountNo) => {
    const request = pageRequest(accountNo);
    const first = await connection.send(request);
    const { data, pagination } = pageOf(first);
    if (data.length !== PAGE_SIZE || !pagination.has_more) {
      throw new Error(`a page has ${data.length} activities, has_more: ${pagination.has_more}`);
    }
    pages.push({ request, length: first.body.length });
  });
  let asked = 0;
  return {
    async ask(send) {
      const page = pages[asked++ % pages.length];
      const answer = page && (await send(page.request));
      if (answer?.body.length === page?.length) return undefined;
      throw new Error("an answer's length has changed");
    },
  };
}

/** Prepares requests for the page before each record of each account. Each `until` differs, so no page repeats. */
export async function prepareColdPages(database: Connection, { first, count }: AccountRange) {
  const times = await readRecordedTimes(database, { first, count });
  let asked = 0;
  const ask: Requests["ask"] = async (send) => {
    const [accountNo, place] = [first + (asked % count), Math.floor(asked / count)];
    const isLookedInto = asked++ % LOOKED_INTO === 0;
    const page = times.get(accountNo)?.slice(place, place + PAGE_SIZE + 1) ?? [];
    const [recordedAt = 0, pageBegins = 0] = page;
    if (page.length <= PAGE_SIZE) {
      throw new Error("every page was asked for: the run is too long for its data");
    }
    const answer = await send(pageRequest(accountNo, `?until=${timeText(recordedAt)}`));
    return () => {
      if (answer.status !== 200) throw new Error(`answered with ${answer.status}`);
      if (!isLookedInto) return;
      const { data } = pageOf(answer);
      if (data.length !== PAGE_SIZE || data[0]?.recorded_at !== timeText(pageBegins)) {
        throw new Error("a page is not the one before its time");
      }
    };
  };
  return { ask };
}

function timeText(micros: number): string {
  const text = new Date(Math.floor(micros / 1000)).toISOString().slice(0, -1);
  return `${text}${String(micros % 1000).padStart(3, "0")}Z`;
}
