import { makeAccounts } from "../load/targets.ts";
import { countEach, type Figures } from "../measure/figures.ts";
import { cpuOf, readMemory } from "../measure/process-usage.ts";
import { median } from "../measure/sample.ts";
import { clientsOf } from "../product/start-product.ts";
import { atLeast, atMost, type Goal } from "../report/goal.ts";
import { grouped, table } from "../report/table.ts";
import type { Bench } from "../run/bench.ts";
import { startCore } from "../sides/programs.ts";
import { startWorker } from "../stack/jobs.ts";
import type { BenchStore } from "../stack/servers.ts";
import type { ImportJobs } from "./import-worker.ts";

/** The number of imports, and of the rows of each. */
type Settings = { readonly rounds: number; readonly importRows: number };
/** All imports of a run, and the memory of their core before and at its peak. The core did nothing else. */
export type Imports = Awaited<ReturnType<typeof measureImports>>;

const ROWS_PER_SECOND = 40_000;
const PEAK_MB = 200;

/** Imports history through a new core, each time into another account. */
export async function measureImports(bench: Bench<Settings>, store: BenchStore) {
  const { rounds: count, importRows: rows } = bench.settings;
  const core = await startCore(bench, "ingest-imports", store.env);
  const file = new URL("./import-worker.ts", import.meta.url);
  const importer = startWorker<ImportJobs>(bench, file);
  const accountIds = await makeAccounts(clientsOf(core.port, store), "bench_import", count);
  const { nowMb: idleMb } = await readMemory(core.pid);
  const cpu = cpuOf({ core: core.pid, database: store.pid });
  const rounds: Figures[] = [];
  for (const id of accountIds) {
    const measure = () =>
      countEach([cpu], async () => {
        const perSecond = await importer.jobs.importRows(core.port, store.credential, id, rows);
        return { count: rows, perSecond };
      });
    const label = `Import ${rounds.length + 1} of ${count}`;
    rounds.push(await bench.progress.step(label, measure));
  }
  const { peakMb } = await readMemory(core.pid);
  await core.stop();
  return { rounds, idleMb, peakMb };
}

/** Returns the table of imports. */
export function importTable(imports: Imports, { importRows }: Settings): string[] {
  return table(
    [imports],
    [
      ["import", () => `${grouped(importRows)} rows`],
      ["rows/s", (all) => of(all, "perSecond"), 0],
      // Milliseconds per row equal seconds per thousand rows.
      ["CPU s per 100,000", (all) => 100 * of(all, "cpu core"), 2],
      ["database's", (all) => 100 * of(all, "cpu database"), 2],
      ["RSS MB before", ({ idleMb }) => idleMb, 0],
      ["its peak", ({ peakMb }) => peakMb, 0],
    ],
  );
}

/** Returns the goals of imports, with the measured values. */
export function importGoals(imports: Imports): Goal[] {
  return [
    atLeast("imported rows", ROWS_PER_SECOND, of(imports, "perSecond"), "/s"),
    atMost("resident memory, core that imports, peak", PEAK_MB, imports.peakMb, "MB"),
  ];
}

function of({ rounds }: Imports, figure: string): number {
  return median(rounds.map((figures) => figures[figure] ?? Number.NaN));
}
