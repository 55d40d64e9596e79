import type { Progress } from "../../../dev-stack/src/progress.ts";
import { readMemory } from "../../measure/process-usage.ts";
import type { Usage } from "../../measure/watch.ts";
import { type IngestStack, prepareAccounts } from "../ingest-stack.ts";
import type { Settings } from "../settings.ts";
import { ProcessName } from "./measure-singles.ts";

/** One import. */
export type ImportRun = {
  readonly rows: number;
  readonly rowsPerSecond: number;
  readonly usage: Usage<ProcessName>;
};

/** All imports of a run, and the memory of the core that took them: it has done nothing else. */
export type Imports = {
  readonly rounds: readonly ImportRun[];
  /** Resident, before the first import and at its highest. */
  readonly idleMb: number;
  readonly peakMb: number;
};

/** Imports history through a new core, each time into another account. */
export async function measureImports(
  stack: IngestStack,
  { rounds: count, importRows: rows }: Settings,
  progress: Progress,
): Promise<Imports> {
  const { store, importer, watch } = stack;
  const core = await stack.startCore();
  const accountIds = await prepareAccounts(stack, core, "bench_import", count);
  const { nowMb: idleMb } = await memoryOf(core.pid);
  const pids = { [ProcessName.Writer]: core.pid, [ProcessName.Database]: store.databasePid };
  const rounds: ImportRun[] = [];
  for (const accountId of accountIds) {
    const job = { port: core.port, credential: store.credential, accountId, rows };
    const label = `Import ${rounds.length + 1} of ${count}`;
    const { result, usage } = await progress.step(label, () =>
      watch.during(pids, () => importer.run(job)),
    );
    rounds.push({ rows, rowsPerSecond: rows / result.seconds, usage });
  }
  const { peakMb } = await memoryOf(core.pid);
  await core.stop();
  return { rounds, idleMb, peakMb };
}

async function memoryOf(pid: number) {
  const [memory] = await readMemory([pid]);
  if (memory === undefined) throw new Error("the core is gone");
  return memory;
}
