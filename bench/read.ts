import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type DataSize, FULL_DATA, SHORT_DATA } from "./data/bench-accounts.ts";
import { startBenchDatabase } from "./data/bench-database.ts";
import { countEach } from "./measure/figures.ts";
import { cpuOf, readMemory } from "./measure/process-usage.ts";
import { measureHistory } from "./read/history.ts";
import {
  historyTable,
  readGoals,
  WORKLOADS,
  type Workload,
  workloadBlocks,
} from "./read/report.ts";
import { type Ground, SIDES, startReader } from "./read/sides.ts";
import { summarizeProfiles } from "./report/profile.ts";
import { RESULTS } from "./report/report.ts";
import type { Run } from "./report/runs.ts";
import { grouped } from "./report/table.ts";
import { type Bench, runBench } from "./run/bench.ts";
import { keptSide, measureRounds, takeTurns } from "./run/rounds.ts";
import { makeFolder } from "./stack/servers.ts";

const NAMES = Object.keys(SIDES);
const full = {
  ...{ size: FULL_DATA, rounds: 5, warmUpSeconds: 4, seconds: 6, concurrency: 32 },
  workloads: Object.keys(WORKLOADS) as readonly Workload[], // it has no other keys
  only: NAMES.filter((name) => !SIDES[name]?.byName) as readonly string[],
  /** Requests for each place of the long history. */
  historySamples: 1_000,
  profile: false,
};
const short = {
  ...{ ...full, size: SHORT_DATA, rounds: 1, warmUpSeconds: 1, seconds: 1, historySamples: 50 },
};
const options = {
  ...{ profile: "flag" as const, concurrency: 1, rounds: 1, seconds: 1 },
  ...{ only: NAMES, workloads: full.workloads },
};

/** Measures reading: the product beside a hand-written server and the bare query. */
await runBench({ name: "bench:read", full, short, options }, async (bench) => {
  const { settings } = bench;
  const { size, concurrency, rounds, seconds, historySamples, profile, only } = settings;
  const database = await startBenchDatabase(bench, size);
  const profileFolder = profile ? await makeFolder(bench, "profiles") : undefined;
  const ground = { bench, databaseUrl: database.url, profileFolder };
  const sides = await startSides(bench, ground, database.pid);
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
  const history = on ? await measureHistory(bench, on, size.historyActivities, historySamples) : [];
  for (const side of sides) await side.end();
  if (profileFolder !== undefined) {
    await writeFile(join(RESULTS, "profile.md"), await summarizeProfiles(profileFolder));
  }
  return {
    on: `${database.flavour} ${database.version}`,
    about: [
      `Data: ${describe(size)}. Closed loop, ${concurrency} connections; ${rounds} rounds of ${seconds} s a side, in turn; medians. Load, servers and database share the machine.`,
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
async function startSides(bench: Bench<typeof full>, ground: Ground, databasePid: number) {
  const { only, size, concurrency } = bench.settings;
  const common = startReader(bench);
  const start = async (name: string) => {
    const side = SIDES[name];
    if (side === undefined) throw new Error(`there is no side ${name}`);
    const env = (await side.env?.(bench)) ?? {};
    const { port, processes, reader } = await side.start(ground, name, env);
    const pids = {
      side: processes.map(({ pid }) => pid),
      ...{ database: databasePid, load: reader ? [] : common.pid },
    };
    const { jobs } = reader ?? common;
    const { databaseUrl } = ground;
    const read = async (workload: Workload, seconds: number) => {
      const reads = { side: name, workload, port, databaseUrl, accounts: size.loadAccounts };
      await jobs.prepare(reads);
      const figures = await countEach([cpuOf(pids)], () => jobs.read(reads, concurrency, seconds));
      const memory = await Promise.all(pids.side.map(readMemory));
      const peaks = memory.map(({ peakMb }, place) => [`peak MB ${place}`, Math.round(peakMb)]);
      return { ...figures, ...Object.fromEntries(peaks) };
    };
    const end = () => Promise.all(processes.map((served) => served.stop()));
    return keptSide(name, pids, { port, read, end });
  };
  const sides: Awaited<ReturnType<typeof start>>[] = [];
  for (const name of only) sides.push(await start(name));
  return sides;
}

function describe({ historyActivities, loadAccounts, activitiesPerLoadAccount }: DataSize): string {
  const [long, accounts, each] = [historyActivities, loadAccounts, activitiesPerLoadAccount];
  return `1 account of ${grouped(long)} activities, ${grouped(accounts)} accounts of ${each}`;
}
