import { fileURLToPath } from "node:url";
import { createClients } from "../../dev-stack/src/demo.ts";
import type { Progress } from "../../dev-stack/src/progress.ts";
import { startWorker, type Worker } from "../load/jobs.ts";
import { type ContributionLoad, startContributionLoad } from "../load/start-contributions.ts";
import type { Sample } from "../measure/sample.ts";
import { startWatch, type Watch } from "../measure/watch.ts";
import { createClosing } from "../stack/closing.ts";
import { type CoreProcess, startCoreProcess } from "../stack/core-process.ts";
import { type BenchCoreStore, startCoreStore } from "../stack/servers.ts";
import { makeAccounts } from "../stack/targets.ts";
import type { ByHandJob } from "./by-hand/by-hand-worker.ts";
import type { ImportAnswer, ImportJob } from "./import/import-worker.ts";

/** All that a run measures, running, but the cores. */
export type IngestStack = {
  readonly store: BenchCoreStore;
  /** What calls the core, in a process of its own. */
  readonly load: ContributionLoad;
  readonly importer: Worker<ImportJob, ImportAnswer>;
  /** What writes without the product. */
  readonly byHand: Worker<ByHandJob, Sample>;
  readonly watch: Watch;
  /** Starts a core in a new process; it ends with the rest, if not before. */
  startCore(): Promise<CoreProcess>;
  stop(): Promise<void>;
};

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Starts a database and the processes that write. */
export async function startIngestStack(progress: Progress): Promise<IngestStack> {
  const closing = createClosing();
  try {
    const store = await startCoreStore("ingest", closing, progress);
    const load = startContributionLoad();
    closing.add(load.stop);
    const importer = startWorker<ImportJob, ImportAnswer>(fileOf("./import/import-worker.ts"));
    closing.add(importer.stop);
    const byHand = startWorker<ByHandJob, Sample>(fileOf("./by-hand/by-hand-worker.ts"));
    closing.add(byHand.stop);
    const watch = startWatch(store.databaseUrl);
    closing.add(watch.close);
    return {
      ...{ store, load, importer, byHand, watch },
      async startCore() {
        const core = await startCoreProcess("ingest-core", store.coreEnv);
        closing.add(core.stop);
        return core;
      },
      stop: closing.closeAll,
    };
  } catch (error) {
    await closing.closeAll();
    throw error;
  }
}

/** Makes accounts without endpoints; returns their ids. */
export function prepareAccounts(
  { store }: IngestStack,
  core: CoreProcess,
  prefix: string,
  count: number,
): Promise<string[]> {
  const clients = createClients(`http://127.0.0.1:${core.port}`, store.credential);
  return makeAccounts(
    clients,
    Array.from({ length: count }, (_, index) => `${prefix}_${index}`),
  );
}
