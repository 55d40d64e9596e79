import { randomBytes } from "node:crypto";
import type { Bench } from "../run/bench.ts";
import { startWorker, type Worker } from "../stack/jobs.ts";
import type { ContributionJobs } from "./contribution-worker.ts";

/** Starts what writes contributions, in a process of its own. */
export function startContributions(bench: Bench): Worker<ContributionJobs> {
  return startWorker(bench, new URL("./contribution-worker.ts", import.meta.url));
}

/** Returns what the ids of the writes of one run, and of no other, begin with. */
export const newRun = () => `${randomBytes(6).toString("hex")}-`;
