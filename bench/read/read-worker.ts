import mysql, { type Connection } from "mysql2/promise";
import { pagedAccounts, polledAccounts } from "../data/bench-accounts.ts";
import { keepConnectionsBusy } from "../load/keep-busy.ts";
import { answerJobs } from "../stack/jobs.ts";
import { prepareColdPages, prepareFirstPages } from "./pages.ts";
import { preparePolls } from "./polls.ts";
import type { Requests } from "./requests.ts";

/** A side, its workload, and the number of accounts. */
type Reads = {
  readonly side: string;
  readonly workload: string;
  readonly port: number;
  readonly databaseUrl: string;
  readonly accounts: number;
};

const prepared = new Map<string, Promise<Requests>>();
let database: Promise<Connection> | undefined;

const jobs = {
  /** Prepares the next turn of a side. */
  async prepare(reads: Reads): Promise<void> {
    await (await requestsOf(reads)).beforeTurn?.();
    // Deletes the counted requests. Otherwise earlier turns within the same window would use up the limit.
    await (await database)?.query("DELETE FROM rate_window");
  },
  /** Keeps a side busy. Each connection sends its next request once the last is answered. */
  async read(reads: Reads, workers: number, seconds: number) {
    const requests = await requestsOf(reads);
    return keepConnectionsBusy(reads.port, { workers, seconds }, requests.ask);
  },
};
export type ReadJobs = typeof jobs;

function requestsOf(reads: Reads): Promise<Requests> {
  const name = `${reads.side} ${reads.workload}`;
  const requests = prepared.get(name) ?? makeRequests(reads);
  prepared.set(name, requests);
  return requests;
}

async function makeRequests(reads: Reads): Promise<Requests> {
  const { workload, port, accounts, databaseUrl: uri } = reads;
  database ??= mysql.createConnection({ uri, multipleStatements: true });
  if (workload === "polls") return preparePolls(port, await database, polledAccounts(accounts));
  if (workload === "first-pages") return prepareFirstPages(port, pagedAccounts(accounts));
  return prepareColdPages(await database, pagedAccounts(accounts));
}

answerJobs(jobs);
