import { FULL_DATA, SHORT_DATA } from "./data/bench-accounts.ts";
import { startBenchDatabase } from "./data/bench-database.ts";
import { countEach } from "./measure/figures.ts";
import { cpuOf, readMemory } from "./measure/process-usage.ts";
import { measureHistory } from "./read/history.ts";
import {
  historyTable,
  readGoals,
  WORKLOAD_NAMES,
  type Workload,
  workloadBlocks,
} from "./read/report.ts";
import { SIDE_NAMES, startNamed, startReader, USUAL_SIDES } from "./read/sides.ts";
import type { Run } from "./report/runs.ts";
import { grouped } from "./report/table.ts";
import { type Bench, runBench } from "./run/bench.ts";
import { keptSide, measureRounds, takeTurns } from "./run/rounds.ts";
import { makeProfiles } from "./stack/servers.ts";

/** `historySamples` are the requests for each place of the long history. */
const full = {
  ...{ size: FULL_DATA, rounds: 5, warmUpSeconds: 4, seconds: 6, concurrency: 32 },
  ...{ workloads: WORKLOAD_NAMES, only: USUAL_SIDES, historySamples: 1_000, profile: false },
};
const short = {
  ...{ ...full, size: SHORT_DATA, rounds: 1, warmUpSeconds: 1, seconds: 1, historySamples: 50 },
};
const options = {
  ...{ profile: "flag" as const, concurrency: 1, rounds: 1, seconds: 1 },
  ...{ only: SIDE_NAMES, workloads: WORKLOAD_NAMES },
};

/** Measures reading: the product beside a hand-written server and the bare query. */
await runBench({ name: "bench:read", full, short, options }, async (bench) => {
  const { settings } = bench;
  const { size, concurrency, rounds, seconds, historySamples, profile, only } = settings;
  const database = await startBenchDatabase(bench, size);
  const sides = await startSides(bench, database);
  const runs: Run[] = [];
  for (const load of settings.workloads) {
    const turns = (seconds: number) =>
      sides.map((side) => ({ side, load, run: () => side.read(load, seconds) }));
    await takeTurns(bench, "Warming up", turns(settings.warmUpSeconds));
    runs.push(...(await measureRounds(bench, rounds, () => turns(seconds))));
  }
  // In a profile, reading the history would drown the load.
  const port = profile ? undefined : sides.find(({ name }) => name === "one-process")?.port;
  const on = port && { port, databaseUrl: database.url };
  const { historyActivities: long, loadAccounts, activitiesPerLoadAccount: each } = size;
  const history = on ? await measureHistory(bench, on, long, historySamples) : [];
  return {
    on: `${database.flavour} ${database.version}`,
    about: [
      `Data: 1 account of ${grouped(long)} activities, ${grouped(loadAccounts)} accounts of ${each}. Closed loop, ${concurrency} connections; ${rounds} rounds of ${seconds} s a side, in turn; medians. Load, servers and database share the machine.`,
      ...(profile ? ["The profiler was on: these are no figures to quote."] : []),
    ],
    blocks: [
      ...settings.workloads.flatMap((load) => workloadBlocks(runs, load, only)),
      historyTable(history),
    ],
    goals: readGoals(runs, history),
    figures: { runs, history },
  };
});

/** Starts the sides of a run; each gets its load from one process, or is one itself. */
async function startSides(
  bench: Bench<typeof full>,
  { url: databaseUrl, pid: database }: Awaited<ReturnType<typeof startBenchDatabase>>,
) {
  const { only, size, concurrency, profile } = bench.settings;
  const profileFolder = profile ? await makeProfiles("read") : undefined;
  const common = startReader(bench);
  const start = async (name: string) => {
    const ground = { bench, databaseUrl, ...(profileFolder && { profileFolder }) };
    const { processes, reader } = await startNamed(ground, name);
    const own = processes.map(({ pid }) => pid);
    const pids = { side: own, database, load: reader ? [] : common.pid };
    const { jobs } = reader ?? common;
    const port = processes[0]?.port;
    const read = async (workload: Workload, seconds: number) => {
      const reads = { side: name, workload, port, databaseUrl, accounts: size.loadAccounts };
      await jobs.prepare(reads);
      const figures = await countEach([cpuOf(pids)], () => jobs.read(reads, concurrency, seconds));
      const memory = await Promise.all(own.map(readMemory));
      const peaks = memory.map(({ peakMb }, place) => [`peak MB ${place}`, Math.round(peakMb)]);
      return { ...figures, ...Object.fromEntries(peaks) };
    };
    return keptSide(name, pids, { port, read });
  };
  const sides: Awaited<ReturnType<typeof start>>[] = [];
  for (const name of only) sides.push(await start(name));
  return sides;
}
