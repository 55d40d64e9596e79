import { fileURLToPath } from "node:url";
import { startWorker, type Worker } from "../../load/jobs.ts";
import type { EngineAnswer, EngineJob } from "./engine-worker.ts";

/** Empty workflows and sleepers, in a process of their own. */
export type Engine = Worker<EngineJob, EngineAnswer>;

const FILE = fileURLToPath(new URL("./engine-worker.ts", import.meta.url));

/** Starts the process that has work for the engine alone. */
export const startEngine = (): Engine => startWorker(FILE);
