import { fileURLToPath } from "node:url";
import { startWorker, type Worker } from "../../load/jobs.ts";
import type { FloorAnswer, FloorJob } from "./floor-worker.ts";

/** Empty workflows and sleepers, in a process of their own. */
export type FloorWorker = Worker<FloorJob, FloorAnswer>;

const FILE = fileURLToPath(new URL("./floor-worker.ts", import.meta.url));

/** Starts the process that has work for Temporal alone. */
export const startFloorWorker = (): FloorWorker => startWorker(FILE);
