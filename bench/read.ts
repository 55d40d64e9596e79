import { seed } from "./data/seed.ts";
import { countEach } from "./measure/figures.ts";
import { cpuOf, readMemory } from "./measure/process-usage.ts";
import { readGoals, WORKLOAD_NAMES, workloadBlocks } from "./read/report.ts";
import { SIDE_NAMES, startNamed, startReader, USUAL_SIDES } from "./read/sides.ts";
import type { Run } from "./report/runs.ts";
import { grouped } from "./report/table.ts";
import { runBench } from "./run/bench.ts";
import { keptSide, measureRounds, takeTurns } from "./run/rounds.ts";
import { makeProfiles, startStore } from "./stack/servers.ts";

const size = { accounts: 3_000, activitiesPerAccount: 210 };
/** The data of a short run: enough to see that the bench works, with enough accounts to stay within the rate limits. */
const little = { ...size, activitiesPerAccount: 70 };
const full = {
  ...{ size, rounds: 5, warmUpSeconds: 4, seconds: 6, concurrency: 32 },
  ...{ workloads: WORKLOAD_NAMES, only: USUAL_SIDES, profile: false },
};
/** The sides of a short run. They cover both layouts of the product, Fastify, and both limiters. */
const few = ["two-processes", "one-process-redis", "fastify-redis"];
const short = { ...full, size: little, rounds: 1, warmUpSeconds: 1, seconds: 1, only: few };
const options = {
  ...{ profile: "flag" as const, concurrency: 1, rounds: 1, seconds: 1 },
  ...{ only: SIDE_NAMES, workloads: WORKLOAD_NAMES },
};

/** Measures reads: the product against a hand-written server. */
await runBench({ name: "bench:read", full, short, options }, async (bench) => {
  const { size, concurrency, rounds, seconds, profile, only, workloads } = bench.settings;
  const store = await startStore(bench, "read");
  const { databaseUrl } = store;
  await bench.progress.step("Making the data", (report) => seed(databaseUrl, size, report));
  const reader = startReader(bench);
  const profileFolder = profile ? await makeProfiles("read") : undefined;
  const start = async (name: string) => {
    const ground = { bench, store, profileFolder };
    const { pids: own, port, redisPid } = await startNamed(ground, name);
    const pids = {
      ...{ side: own, database: store.pid, load: reader.pid },
      ...(redisPid !== undefined && { Redis: redisPid }),
    };
    const { jobs } = reader;
    const read = async (workload: string, seconds: number) => {
      const reads = { side: name, workload, port, databaseUrl, accounts: size.accounts };
      await jobs.prepare(reads);
      const figures = await countEach([cpuOf(pids)], () => jobs.read(reads, concurrency, seconds));
      const memory = await Promise.all(own.map(readMemory));
      const peaks = memory.map(({ peakMb }, place) => [`peak MB ${place}`, Math.round(peakMb)]);
      return { ...figures, ...Object.fromEntries(peaks) };
    };
    return keptSide(name, pids, { read });
  };
  const sides: Awaited<ReturnType<typeof start>>[] = [];
  for (const name of only) sides.push(await start(name));
  const runs: Run[] = [];
  for (const load of workloads) {
    const turns = (seconds: number) =>
      sides.map((side) => ({ side, load, run: () => side.read(load, seconds) }));
    await takeTurns(bench, "Warming up", turns(bench.settings.warmUpSeconds));
    runs.push(...(await measureRounds(bench, rounds, () => turns(seconds))));
  }
  return {
    on: store.version,
    about: [
      `Data: ${grouped(size.accounts)} accounts of ${size.activitiesPerAccount} activities. Closed loop, ${concurrency} connections; ${rounds} rounds of ${seconds} s a side, in turn; medians. Load, servers and database share the machine.`,
      ...(profile ? ["The profiler was on: these are no figures to quote."] : []),
    ],
    blocks: workloads.flatMap((load) => workloadBlocks(runs, load, only)),
    goals: readGoals(runs),
  };
});
