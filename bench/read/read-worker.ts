import mysql, { type Connection } from "mysql2/promise";
import { pagedAccounts, polledAccounts } from "../data/bench-accounts.ts";
import { HttpConnection } from "../load/http-connection.ts";
import { keepBusy } from "../load/keep-busy.ts";
import type { Sample } from "../measure/sample.ts";
import { answerJobs } from "../stack/jobs.ts";
import { bareAnswers, bareQueries } from "./bare.ts";
import type { Requests } from "./page.ts";
import { prepareColdPages, prepareFirstPages } from "./pages.ts";
import { preparePolls } from "./polls.ts";

/** Who is asked for what. */
export type Reads = {
  readonly side: string;
  readonly workload: string;
  /** Where it serves; absent for what speaks no HTTP. */
  readonly port?: number | undefined;
  readonly databaseUrl: string;
  /** All those under load. */
  readonly accounts: number;
};

const prepared = new Map<string, Requests>();
let database: Promise<Connection> | undefined;

const jobs = {
  /** Makes the next turn of a side ready. */
  async prepare(reads: Reads): Promise<void> {
    const requests = await requestsOf(reads);
    prepared.set(nameOf(reads), requests);
    await requests.beforeTurn?.();
  },
  /** Keeps a side busy: each connection sends its next request when the last one is answered. */
  async read(reads: Reads, workers: number, seconds: number): Promise<Sample> {
    const requests = await requestsOf(reads);
    const connections = new Map<number, HttpConnection>();
    const connectionOf = (worker: number) => {
      const connection = connections.get(worker) ?? new HttpConnection(reads.port ?? 0);
      connections.set(worker, connection);
      return connection;
    };
    try {
      return await keepBusy({ workers, seconds }, (_, worker) =>
        requests.ask((request) => connectionOf(worker).send(request)),
      );
    } finally {
      for (const connection of connections.values()) connection.close();
    }
  },
};
export type ReadJobs = typeof jobs;

const nameOf = ({ side, workload }: Reads) => `${side} ${workload}`;

async function requestsOf(reads: Reads): Promise<Requests> {
  const { side, workload, port = 0, accounts, databaseUrl } = reads;
  const known = prepared.get(nameOf(reads));
  if (known !== undefined) return known;
  if (side === "bare-http") return bareAnswers(workload);
  if (side === "bare-query") return bareQueries(workload, databaseUrl, accounts);
  database ??= mysql.createConnection({ uri: databaseUrl, multipleStatements: true });
  if (workload === "polls") return preparePolls(port, await database, polledAccounts(accounts));
  if (workload === "first-pages") return prepareFirstPages(port, pagedAccounts(accounts));
  return prepareColdPages(await database, pagedAccounts(accounts));
}

answerJobs(jobs);
