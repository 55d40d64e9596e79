import type { Connection } from "mysql2/promise";
import { pagedAccounts, polledAccounts } from "../data/bench-accounts.ts";
import { connectWriter } from "../data/record-follow.ts";
import { Durations, type Sample } from "../measure/sample.ts";
import { SideName } from "../sides/side.ts";
import { bareAnswers } from "./bare-answers.ts";
import { prepareColdPages } from "./cold-pages.ts";
import { prepareFirstPages } from "./first-pages.ts";
import { HttpConnection } from "./http-connection.ts";
import { answerJobs } from "./jobs.ts";
import { preparePolls } from "./polls.ts";
import { type Requests, Workload } from "./workload.ts";

/** Load on one side over HTTP: what its turn needs, or the turn itself. */
export type LoadJob = {
  readonly side: string;
  readonly workload: Workload;
  readonly port: number;
  readonly databaseUrl: string;
  readonly accounts: number;
  readonly concurrency: number;
  /** Absent to get ready only. */
  readonly seconds: number | undefined;
};

const prepared = new Map<string, Requests>();
let database: Promise<Connection> | undefined;

async function runJob(job: LoadJob): Promise<Sample | undefined> {
  const name = `${job.side} ${job.workload}`;
  const requests = prepared.get(name) ?? (await prepare(job));
  prepared.set(name, requests);
  if (job.seconds === undefined) await requests.beforeTurn();
  else return runLoad(requests, job.port, job.concurrency, job.seconds);
  return undefined;
}

async function prepare(job: LoadJob): Promise<Requests> {
  const { side, workload, port, accounts, databaseUrl } = job;
  database ??= connectWriter(databaseUrl);
  if (side === SideName.BareHttp) return bareAnswers(workload);
  switch (workload) {
    case Workload.Polls:
      return preparePolls(port, await database, polledAccounts(accounts));
    case Workload.FirstPages:
      return prepareFirstPages(port, pagedAccounts(accounts));
    case Workload.ColdPages:
      return prepareColdPages(await database, pagedAccounts(accounts));
  }
}

/** Runs a closed loop: each connection sends its next request when the last one is answered. */
async function runLoad(
  { next }: Requests,
  port: number,
  concurrency: number,
  seconds: number,
): Promise<Sample> {
  const connections = Array.from({ length: concurrency }, () => new HttpConnection(port));
  const durations = new Durations();
  const startedAt = performance.now();
  const until = startedAt + seconds * 1000;
  const work = async (connection: HttpConnection) => {
    while (performance.now() < until) {
      const { request, take } = next();
      const sentAt = performance.now();
      const answer = await connection.send(request);
      durations.add(performance.now() - sentAt);
      await take(answer);
    }
  };
  try {
    await Promise.all(connections.map(work));
  } finally {
    for (const connection of connections) connection.close();
  }
  return durations.toSample((performance.now() - startedAt) / 1000);
}

answerJobs(runJob);
