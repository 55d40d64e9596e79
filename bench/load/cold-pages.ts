import type { Connection } from "mysql2/promise";
import type { AccountRange } from "../data/bench-accounts.ts";
import { readRecordedTimes } from "../data/recorded-times.ts";
import { pageRequest } from "./page-request.ts";
import { type Exchange, PAGE_SIZE, pageOf, type Requests } from "./workload.ts";

/** One answer in a hundred is looked into: the load takes no more of the processor than it must. */
const LOOKED_INTO = 100;

/** The pages before each record of each account: `until` names them all, and none twice. */
export async function prepareColdPages(
  database: Connection,
  accounts: AccountRange,
): Promise<Requests> {
  const times = await readRecordedTimes(database, accounts);
  let asked = 0;

  function next(): Exchange {
    const accountNo = accounts.first + (asked % accounts.count);
    const place = Math.floor(asked / accounts.count);
    const isLookedInto = asked++ % LOOKED_INTO === 0;
    const recordedAt = times.get(accountNo)?.[place];
    const pageBegins = times.get(accountNo)?.[place + 1];
    const hasWholePage = times.get(accountNo)?.[place + PAGE_SIZE] !== undefined;
    if (recordedAt === undefined || pageBegins === undefined || !hasWholePage) {
      throw new Error("every page was asked for: the run is too long for its data");
    }
    return {
      request: pageRequest(accountNo, `?until=${timeText(recordedAt)}`),
      take(answer) {
        if (answer.status !== 200) throw new Error(`answered with ${answer.status}`);
        if (!isLookedInto) return;
        const { data } = pageOf(answer);
        if (data.length !== PAGE_SIZE || data[0]?.recorded_at !== timeText(pageBegins)) {
          throw new Error("a page is not the one before its time");
        }
      },
    };
  }

  return { beforeTurn: async () => {}, next };
}

function timeText(micros: number): string {
  const text = new Date(Math.floor(micros / 1000)).toISOString().slice(0, -1);
  return `${text}${String(micros % 1000).padStart(3, "0")}Z`;
}
