import { fileURLToPath } from "node:url";
import { startWorker, type Worker } from "../../load/jobs.ts";
import type { LoadJob } from "../../load/load-worker.ts";
import { Workload } from "../../load/workload.ts";
import type { Sample } from "../../measure/sample.ts";
import type { Settings } from "../settings.ts";
import type { CaseRun, MeasuredSide } from "./measure-case.ts";

/** What asks for pages, in a process of its own. */
export type ReadLoad = Worker<LoadJob, Sample | undefined>;

const FILE = fileURLToPath(new URL("../../load/load-worker.ts", import.meta.url));
const CONNECTIONS = 32;

/** Starts the process that reads. */
export const startReadLoad = (): ReadLoad => startWorker(FILE);

/** Measures pages of which none is asked for twice; `dataUrl` has the same records as every side. */
export async function measureReads(
  side: MeasuredSide,
  load: ReadLoad,
  { size }: Settings,
  { dataUrl, seconds }: { readonly dataUrl: string; readonly seconds: number },
): Promise<CaseRun> {
  const { gatewayPort: port } = await side.run(false);
  const job = {
    ...{ side: side.store.label, workload: Workload.ColdPages, port, databaseUrl: dataUrl },
    ...{ accounts: size.loadAccounts, concurrency: CONNECTIONS },
  };
  await load.run({ ...job, seconds: undefined });
  const [sample, cpuMs] = await side.measure(() => load.run({ ...job, seconds }));
  if (sample === undefined) throw new Error("a turn without a sample");
  return { count: sample.requests, perSecond: sample.requests / sample.seconds, cpuMs };
}
