import mysql, { type Pool } from "mysql2/promise";
import { pagedAccounts, polledAccounts } from "../data/bench-accounts.ts";
import { readRecordedTimes } from "../data/feed.ts";
import { type ActivityRow, pageStatement } from "../fastify-server/page-query.ts";
import { PAGE_SIZE, type Requests } from "./page.ts";

/** As the product's. */
const CONNECTIONS = 10;
/** About the bytes of the bodies that the other sides answer with. */
const BODY_BYTES: Readonly<Record<string, number>> = { polls: 123 };
const PAGE_BYTES = 14_400;
const PAGE = {
  ...{ limit: PAGE_SIZE, ascending: false, type: 0, platform: 0 },
  ...{ since: undefined, until: undefined, position: undefined },
};
/** Behind whatever is recorded until the year 2096. */
const END = { recorded_at: 4_000_000_000_000_000, record_key: "~" };

let pool: Pool | undefined;

/** Asks the server that only answers for a body as long as those of a workload. */
export function bareAnswers(workload: string): Requests {
  const bytes = BODY_BYTES[workload] ?? PAGE_BYTES;
  const request = Buffer.from(`GET /${bytes} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`, "latin1");
  return {
    async ask(send) {
      const { body } = await send(request);
      if (body.length !== bytes) throw new Error("an answer of another length");
      return undefined;
    },
  };
}

/** Asks the database alone: the statements of the same pages as the load on the servers asks for. */
export async function bareQueries(
  workload: string,
  uri: string,
  accounts: number,
): Promise<Requests> {
  pool ??= mysql.createPool({
    ...{ uri, charset: "utf8mb4_bin", timezone: "Z", supportBigNumbers: true },
    connectionLimit: CONNECTIONS,
  });
  const db = pool;
  const read = async (query: Parameters<typeof pageStatement>[0], expected: number) => {
    const { sql, values } = pageStatement(query);
    const [rows] = await db.execute<ActivityRow[]>(sql, values);
    if (rows.length !== expected) throw new Error(`a page has ${rows.length} rows`);
    return undefined;
  };
  let asked = 0;
  if (workload === "polls") {
    const { first, count } = polledAccounts(accounts);
    const poll = { ...PAGE, ascending: true, position: END };
    return { ask: () => read({ ...poll, accountNo: first + (asked++ % count) }, 0) };
  }
  const range = pagedAccounts(accounts);
  const times = await readRecordedTimes(db, range);
  return {
    ask() {
      const accountNo = range.first + (asked % range.count);
      const ends = times.get(accountNo) ?? [];
      // It outruns the pages there are; the database does not remember that it was asked.
      const place = Math.floor(asked++ / range.count) % (ends.length - PAGE_SIZE - 1);
      const until = workload === "cold-pages" ? ends[place] : undefined;
      return read({ ...PAGE, accountNo, until }, PAGE_SIZE + 1);
    },
  };
}
