import mysql, { type Pool } from "mysql2/promise";
import { pagedAccounts, polledAccounts } from "../data/bench-accounts.ts";
import { readRecordedTimes } from "../data/feed.ts";
import { type PageQuery, pageStatement } from "../fastify-server/page-query.ts";
import { PAGE_SIZE, type Requests } from "./requests.ts";

/** As the product's. */
const CONNECTIONS = 10;
/** About the bytes of the bodies that the other sides answer with. */
const [POLL_BYTES, PAGE_BYTES] = [123, 14_400];
const PAGE = { limit: PAGE_SIZE, ascending: false, type: 0, platform: 0 };
/** Behind whatever is recorded until the year 2096. */
const END = { recorded_at: 4_000_000_000_000_000, record_key: "~" };

let pool: Pool | undefined;

/** Asks the server that only answers for a body as long as those of a workload. */
export function bareAnswers(workload: string): Requests {
  const bytes = workload === "polls" ? POLL_BYTES : PAGE_BYTES;
  const request = Buffer.from(`GET /${bytes} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`, "latin1");
  return {
    async ask(send) {
      const { body } = await send(request);
      if (body.length === bytes) return undefined;
      throw new Error("an answer of another length");
    },
  };
}

/** Asks the database alone: the statements of the same pages as the load on the servers asks for. */
export async function bareQueries(workload: string, uri: string, all: number): Promise<Requests> {
  pool ??= mysql.createPool({
    ...{ uri, charset: "utf8mb4_bin", timezone: "Z", supportBigNumbers: true },
    connectionLimit: CONNECTIONS,
  });
  const db = pool;
  const read = async (query: PageQuery, expected: number) => {
    const { sql, values } = pageStatement(query);
    const [rows] = await db.execute<mysql.RowDataPacket[]>(sql, values);
    if (rows.length !== expected) throw new Error(`a page has ${rows.length} rows`);
    return undefined;
  };
  let asked = 0;
  const { first, count } = workload === "polls" ? polledAccounts(all) : pagedAccounts(all);
  if (workload === "polls") {
    const poll = { ...PAGE, ascending: true, position: END };
    return { ask: () => read({ ...poll, accountNo: first + (asked++ % count) }, 0) };
  }
  const times = await readRecordedTimes(db, { first, count });
  return {
    ask() {
      const accountNo = first + (asked % count);
      const ends = times.get(accountNo) ?? [];
      // It outruns the pages there are; the database does not remember that it was asked.
      const place = Math.floor(asked++ / count) % (ends.length - PAGE_SIZE - 1);
      const until = workload === "cold-pages" ? ends[place] : undefined;
      return read({ ...PAGE, accountNo, until }, PAGE_SIZE + 1);
    },
  };
}
