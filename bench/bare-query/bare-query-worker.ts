import mysql, { type Pool } from "mysql2/promise";
import { pagedAccounts, polledAccounts } from "../data/bench-accounts.ts";
import { readRecordedTimes } from "../data/recorded-times.ts";
import { type ActivityRow, pageStatement } from "../fastify-server/page-query.ts";
import { answerJobs } from "../load/jobs.ts";
import { PAGE_SIZE, Workload } from "../load/workload.ts";
import { Durations } from "../measure/sample.ts";

/** The page query alone, in a loop. */
export type BareQueryJob = {
  readonly databaseUrl: string;
  readonly connections: number;
  readonly accounts: number;
  readonly concurrency: number;
  readonly workload: Workload;
  readonly seconds: number;
};

type Statement = {
  readonly sql: string;
  readonly values: (number | string)[];
  readonly rows: number;
};

let pool: Pool | undefined;
const prepared = new Map<Workload, () => Statement>();

/** Runs the statements of the same pages as the load on the servers asks for. */
async function runQueries(job: BareQueryJob) {
  const db = pool ?? createPool(job);
  pool = db;
  const next = prepared.get(job.workload) ?? (await prepare(db, job));
  prepared.set(job.workload, next);
  const durations = new Durations();
  const startedAt = performance.now();
  const until = startedAt + job.seconds * 1000;
  const work = async () => {
    for (let now = performance.now(); now < until; ) {
      const { sql, values, rows: expected } = next();
      const [rows] = await db.execute<ActivityRow[]>(sql, values);
      if (rows.length !== expected) throw new Error(`a page has ${rows.length} rows`);
      const end = performance.now();
      durations.add(end - now);
      now = end;
    }
  };
  await Promise.all(Array.from({ length: job.concurrency }, work));
  return durations.toSample((performance.now() - startedAt) / 1000);
}

function createPool({ databaseUrl, connections }: BareQueryJob): Pool {
  return mysql.createPool({
    uri: databaseUrl,
    charset: "utf8mb4_bin",
    timezone: "Z",
    supportBigNumbers: true,
    connectionLimit: connections,
  });
}

async function prepare(db: Pool, { workload, accounts }: BareQueryJob): Promise<() => Statement> {
  let asked = 0;
  if (workload === Workload.Polls) {
    const { first, count } = polledAccounts(accounts);
    return () => {
      const end = { accountNo: first + (asked++ % count), ascending: true, position: END };
      return { ...pageStatement({ ...PAGE, ...end }), rows: 0 };
    };
  }
  const range = pagedAccounts(accounts);
  const times = await readRecordedTimes(db, range);
  return () => {
    const accountNo = range.first + (asked % range.count);
    const ends = times.get(accountNo) ?? [];
    // It outruns the pages there are; the database does not remember that it was asked.
    const place = Math.floor(asked++ / range.count) % (ends.length - PAGE_SIZE - 1);
    const until = workload === Workload.ColdPages ? ends[place] : undefined;
    return { ...pageStatement({ ...PAGE, accountNo, until }), rows: PAGE_SIZE + 1 };
  };
}

const PAGE = {
  ...{ limit: PAGE_SIZE, ascending: false, type: 0, platform: 0 },
  ...{ since: undefined, until: undefined, position: undefined },
};
/** Behind whatever is recorded until the year 2096. */
const END = { recordedAt: 4_000_000_000_000_000, recordKey: "~" };

answerJobs(runQueries);
