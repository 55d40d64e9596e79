import type { Sample } from "../measure/sample.ts";
import { sharedNowMs } from "../measure/shared-clock.ts";
import { contributionRequest } from "./contribution-request.ts";
import { HttpConnection } from "./http-connection.ts";
import { answerJobs } from "./jobs.ts";
import { type Pace, runWriters } from "./run-writers.ts";

/** Contributions to write through the core's port, each the first of a subscription. */
export type ContributionJob = Pace & {
  readonly port: number;
  readonly credential: string;
  /** Who is written to, in turn. */
  readonly accountIds: readonly string[];
  /** Tells the writes of this job from those of all others. */
  readonly run: string;
};

/** What the calls took, and when each of them began, on the shared clock. */
export type Written = Sample & { readonly beganMs: readonly number[] };

async function write(job: ContributionJob): Promise<Written> {
  const { port, credential, accountIds, run } = job;
  const connections = Array.from({ length: job.writers }, () => new HttpConnection(port));
  const beganMs: number[] = [];
  try {
    const sample = await runWriters(job, async (turn, writer) => {
      const accountId = accountIds[turn % accountIds.length] ?? "";
      const request = contributionRequest(accountId, { run, turn }, credential);
      beganMs[turn] = sharedNowMs();
      const answer = await connections[writer]?.send(request);
      if (answer?.status !== 200) {
        throw new Error(`answered with ${answer?.status}: ${answer?.body.toString()}`);
      }
    });
    return { ...sample, beganMs };
  } finally {
    for (const connection of connections) connection.close();
  }
}

answerJobs(write);
