import { randomBytes } from "node:crypto";
import type { Bench } from "../run/bench.ts";
import { startWorker, type Worker } from "../stack/jobs.ts";
import type { ContributionJobs } from "./contribution-worker.ts";

/** Starts the process that writes contributions. */
export function startContributions(bench: Bench): Worker<ContributionJobs> {
  return startWorker(bench, new URL("./contribution-worker.ts", import.meta.url));
}

/** Returns a unique id prefix for the writes of a run. */
export const newRun = () => `${randomBytes(6).toString("hex")}-`;
