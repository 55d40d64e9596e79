import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createProgress } from "../dev-stack/src/progress.ts";
import { FLAVOUR_NAMES } from "../dev-stack/src/server-program.ts";
import { type DataSize, HIDDEN_OF_TEN } from "./data/bench-accounts.ts";
import { BENCH_CACHE, type BenchDatabase, startBenchDatabase } from "./data/bench-database.ts";
import { measurePageLatency } from "./history/page-latency.ts";
import { measureRounds } from "./measure/rounds.ts";
import { describeMachine } from "./report/machine.ts";
import { toMarkdown } from "./report/markdown.ts";
import { summarizeProfiles } from "./report/profile.ts";
import { publish, RESULTS } from "./report/publish.ts";
import { type Results, sideResult, type WorkloadResult } from "./report/results.ts";
import { runMain, stopOnSignal } from "./run-main.ts";
import { isWhole, readSettings, type Settings, USAGE } from "./settings.ts";
import { type Side, SideName } from "./sides/side.ts";
import { startSides } from "./sides/start-sides.ts";

const progress = createProgress();

/** Measures reading: the product beside a hand-written server and the bare query. */
async function main(settings: Settings): Promise<void> {
  const database = await startBenchDatabase(settings.size, progress);
  try {
    await measureOn(database, settings);
  } finally {
    await database.stop();
  }
}

async function measureOn(database: BenchDatabase, settings: Settings): Promise<void> {
  await mkdir(RESULTS, { recursive: true });
  const profileFolder = settings.profile ? await emptyFolder("profiles") : undefined;
  const options = {
    databaseUrl: database.url,
    accounts: settings.size.loadAccounts,
    concurrency: settings.concurrency,
    profileFolder,
  };
  const running = await startSides(settings.sides, options, progress);
  stopOnSignal(async () => {
    await running.stop();
    await database.stop();
  });
  try {
    const { sides } = running;
    const workloads: WorkloadResult[] = [];
    for (const name of settings.workloads) {
      const rounds = await measureRounds(sides, name, database.pid, settings.schedule, progress);
      workloads.push({ name, sides: sides.map((side) => sideResult(side, rounds)) });
    }
    const results: Results = {
      machine: describeMachine(`${nameOf(database)} ${database.version}`),
      settings: {
        data: describeData(settings.size),
        concurrency: settings.concurrency,
        rounds: settings.schedule.rounds,
        secondsARound: settings.schedule.seconds,
        profiled: settings.profile,
      },
      workloads,
      history: await measureHistory(sides, database, settings),
    };
    await publish(results, toMarkdown(results), isWhole(settings) ? "read" : undefined);
  } finally {
    await running.stop();
  }
  if (profileFolder !== undefined) {
    await writeFile(join(RESULTS, "profile.md"), await summarizeProfiles(profileFolder));
  }
}

async function measureHistory(sides: readonly Side[], database: BenchDatabase, settings: Settings) {
  const port = sides.find(({ name }) => name === SideName.OneProcess)?.port;
  // In a profile, reading the history would drown the load.
  if (port === undefined || settings.profile) return [];
  const { size, historySamples: samples } = settings;
  return measurePageLatency({ port, databaseUrl: database.url, size, samples }, progress);
}

function nameOf({ flavour }: BenchDatabase): string {
  return flavour === "given" ? "database" : FLAVOUR_NAMES[flavour];
}

function describeData(size: DataSize): string {
  const { historyRecords, loadAccounts, recordsPerLoadAccount } = size;
  const number = (value: number) => value.toLocaleString("en");
  return `1 account of ${number(historyRecords)} records, ${number(loadAccounts)} accounts of ${number(recordsPerLoadAccount)}, ${HIDDEN_OF_TEN} of 10 hidden`;
}

async function emptyFolder(name: string): Promise<string> {
  const folder = join(BENCH_CACHE, name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  return folder;
}

await runMain(USAGE, (args) => main(readSettings(args)));
