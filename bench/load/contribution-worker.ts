import { setTimeout as wait } from "node:timers/promises";
import { Durations, type Sample } from "../measure/sample.ts";
import { sharedNowMs } from "../measure/shared-clock.ts";
import { contributionRequest } from "./contribution-request.ts";
import { HttpConnection } from "./http-connection.ts";
import { answerJobs } from "./jobs.ts";

/** Contributions to write through the core's port, each the first of a subscription. */
export type ContributionJob = {
  readonly port: number;
  readonly credential: string;
  /** Who is written to, in turn. */
  readonly accountIds: readonly string[];
  /** Tells the writes of this job from those of all others. */
  readonly run: string;
  readonly writers: number;
  /** Calls begun a second; `undefined`: each writer begins its next call when its last one is answered. */
  readonly perSecond: number | undefined;
  readonly seconds: number;
};

/** What the calls took, and when each of them began, on the shared clock. */
export type Written = Sample & { readonly beganMs: readonly number[] };

async function write(job: ContributionJob): Promise<Written> {
  const connections = Array.from({ length: job.writers }, () => new HttpConnection(job.port));
  const durations = new Durations();
  const beganMs: number[] = [];
  const startedMs = sharedNowMs();
  const untilMs = startedMs + job.seconds * 1000;
  const msBetween = job.perSecond === undefined ? 0 : 1000 / job.perSecond;
  let next = 0;
  const writer = async (connection: HttpConnection) => {
    for (;;) {
      const waitMs = startedMs + next * msBetween - sharedNowMs();
      if (sharedNowMs() + Math.max(0, waitMs) >= untilMs) return;
      const turn = next++;
      if (waitMs > 0) await wait(waitMs);
      const accountId = job.accountIds[turn % job.accountIds.length] ?? "";
      const request = contributionRequest(accountId, { run: job.run, turn }, job.credential);
      const began = sharedNowMs();
      beganMs[turn] = began;
      const { status, body } = await connection.send(request);
      if (status !== 200) throw new Error(`answered with ${status}: ${body.toString()}`);
      durations.add(sharedNowMs() - began);
    }
  };
  try {
    await Promise.all(connections.map(writer));
  } finally {
    for (const connection of connections) connection.close();
  }
  return { ...durations.toSample((sharedNowMs() - startedMs) / 1000), beganMs };
}

answerJobs(write);
