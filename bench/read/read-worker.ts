import mysql, { type Connection } from "mysql2/promise";
import { pagedAccounts, polledAccounts } from "../data/bench-accounts.ts";
import { HttpConnection } from "../load/http-connection.ts";
import { keepBusy } from "../load/keep-busy.ts";
import { answerJobs } from "../stack/jobs.ts";
import { bareAnswers, bareQueries } from "./bare.ts";
import { prepareColdPages, prepareFirstPages } from "./pages.ts";
import { preparePolls } from "./polls.ts";
import type { Requests } from "./requests.ts";

/** Who is asked for what, and of how many accounts under load; without a port, the database itself. */
type Reads = {
  readonly side: string;
  readonly workload: string;
  readonly port?: number | undefined;
  readonly databaseUrl: string;
  readonly accounts: number;
};

const prepared = new Map<string, Promise<Requests>>();
let database: Promise<Connection> | undefined;

const jobs = {
  /** Makes the next turn of a side ready. */
  async prepare(reads: Reads): Promise<void> {
    await (await requestsOf(reads)).beforeTurn?.();
  },
  /** Keeps a side busy: each connection sends its next request when the last one is answered. */
  async read(reads: Reads, workers: number, seconds: number) {
    const requests = await requestsOf(reads);
    const { port = 0 } = reads;
    const connections = Array.from({ length: port && workers }, () => new HttpConnection(port));
    const ask = (_: number, worker: number) =>
      requests.ask((request) => {
        const connection = connections[worker];
        return connection ? connection.send(request) : Promise.reject(new Error("no HTTP"));
      });
    return keepBusy({ workers, seconds }, ask).finally(() => {
      for (const connection of connections) connection.close();
    });
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
  const { side, workload, port = 0, accounts, databaseUrl: uri } = reads;
  if (side === "bare-http") return bareAnswers(workload);
  if (side === "bare-query") return bareQueries(workload, uri, accounts);
  database ??= mysql.createConnection({ uri, multipleStatements: true });
  if (workload === "polls") return preparePolls(port, await database, polledAccounts(accounts));
  if (workload === "first-pages") return prepareFirstPages(port, pagedAccounts(accounts));
  return prepareColdPages(await database, pagedAccounts(accounts));
}

answerJobs(jobs);
