import { importGoals, importTable, measureImports } from "./ingest/imports.ts";
import { measureSingles, singlesGoals, singlesTable } from "./ingest/singles.ts";
import { runBench } from "./run/bench.ts";
import { startStore } from "./stack/servers.ts";

const FULL = { rounds: 3, warmUpSeconds: 3, seconds: 6, accounts: 1_000, importRows: 100_000 };
const SHORT = { rounds: 1, warmUpSeconds: 0.3, seconds: 0.5, accounts: 20, importRows: 5_000 };
const spec = { name: "bench:ingest", full: FULL, short: SHORT, options: { rounds: 1 } };

/** Measures imports, and compares single contributions with hand-written SQL that writes the same rows. */
await runBench(spec, async (bench) => {
  const { settings } = bench;
  const store = await startStore(bench, "ingest");
  const singles = await measureSingles(bench, store);
  const imports = await measureImports(bench, store);
  return {
    on: store.version,
    about: [
      `64 writers, no endpoints; ${settings.rounds} rounds, the sides in turn, ${settings.seconds} s each; medians. Everything shares the machine.`,
    ],
    blocks: [singlesTable(singles, settings), importTable(imports, settings)],
    goals: [...singlesGoals(singles, settings), ...importGoals(imports)],
  };
});
