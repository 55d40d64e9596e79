import { fileURLToPath } from "node:url";
import type { ContributionJob, Written } from "./contribution-worker.ts";
import { startWorker, type Worker } from "./jobs.ts";

/** What writes contributions, in a process of its own. */
export type ContributionLoad = Worker<ContributionJob, Written>;

const FILE = fileURLToPath(new URL("./contribution-worker.ts", import.meta.url));

/** Starts the process that writes contributions. */
export const startContributionLoad = (): ContributionLoad => startWorker(FILE);
