import mysql, { type Pool } from "mysql2/promise";
import { answerJobs } from "../../load/jobs.ts";
import { runWriters } from "../../load/run-writers.ts";
import type { Sample } from "../../measure/sample.ts";
import { writeContribution } from "./write-contribution.ts";

/** Contributions to write by hand, without the product. */
export type ByHandJob = {
  readonly databaseUrl: string;
  readonly connections: number;
  /** Who is written to, in turn. */
  readonly accountIds: readonly string[];
  /** Tells the writes of this job from those of all others. */
  readonly run: string;
  readonly writers: number;
  readonly seconds: number;
};

let pool: Pool | undefined;

async function write(job: ByHandJob): Promise<Sample> {
  const { databaseUrl, connections, accountIds, run, ...pace } = job;
  const db = pool ?? createPool(databaseUrl, connections);
  pool = db;
  return runWriters({ ...pace, perSecond: undefined }, async (turn) => {
    await writeContribution(db, accountIds[turn % accountIds.length] ?? "", { run, turn });
  });
}

function createPool(uri: string, connectionLimit: number): Pool {
  const created = mysql.createPool({ uri, connectionLimit, charset: "utf8mb4_bin" });
  // As the product has it: who locked the account waits for nothing else.
  const isolation = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";
  created.pool.on("connection", (connection: { query(sql: string): unknown }) => {
    connection.query(isolation);
  });
  return created;
}

answerJobs(write);
