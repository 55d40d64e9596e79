import mysql, { type Pool } from "mysql2/promise";
import { FIRST_LOAD_ACCOUNT_NO } from "../data/bench-accounts.ts";
import { type ActivityRow, type PageQuery, pageStatement } from "../fastify-server/page-query.ts";
import { answerJobs } from "../load/jobs.ts";
import { Durations } from "../measure/sample.ts";

/** The page query alone, in a loop. */
export type BareQueryJob = {
  readonly databaseUrl: string;
  readonly connections: number;
  readonly accounts: number;
  readonly concurrency: number;
  readonly seconds: number;
};

type Statement = { readonly sql: string; readonly values: (number | string)[] };

let pool: Pool | undefined;
let statements: Statement[] = [];
let next = 0;

/** Runs the statements of the same pages as the load on the servers asks for. */
async function runQueries(job: BareQueryJob) {
  const db = pool ?? createPool(job);
  pool = db;
  if (statements.length === 0) statements = await prepareStatements(db, job.accounts);
  const durations = new Durations();
  const startedAt = performance.now();
  const until = startedAt + job.seconds * 1000;
  const work = async () => {
    for (let now = performance.now(); now < until; ) {
      const { sql, values } = statements[next++ % statements.length] as Statement; // never empty
      const [rows] = await db.execute<ActivityRow[]>(sql, values);
      if (rows.length !== 51) throw new Error(`a page has ${rows.length} rows`);
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

async function prepareStatements(db: Pool, accounts: number): Promise<Statement[]> {
  const statements: Statement[] = [];
  for (let place = 0; place < accounts; place++) {
    const accountNo = FIRST_LOAD_ACCOUNT_NO + place;
    const first = pageStatement(queryOf(accountNo, undefined));
    const [rows] = await db.execute<ActivityRow[]>(first.sql, first.values);
    const last = rows[49];
    if (last === undefined) throw new Error("an account has no second page");
    const position = { recordedAt: last.recorded_at, recordKey: last.record_key };
    const second = pageStatement(queryOf(accountNo, position));
    statements[place] = place % 2 === 0 ? first : second;
    statements[place + accounts] = place % 2 === 0 ? second : first;
  }
  return statements;
}

function queryOf(accountNo: number, position: PageQuery["position"]): PageQuery {
  const filters = { type: 0, platform: 0, since: undefined, until: undefined };
  return { accountNo, limit: 50, ascending: false, ...filters, position };
}

answerJobs(runQueries);
