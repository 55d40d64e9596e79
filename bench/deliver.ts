import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createProgress } from "../tools/stack/progress.ts";
import { BENCH_CACHE } from "./data/bench-database.ts";
import { type BenchStack, startBenchStack } from "./deliver/bench-stack.ts";
import { measureBacklog } from "./deliver/cases/backlog.ts";
import { addSleepers } from "./deliver/cases/sleepers.ts";
import { measureHalf, prepareTargets } from "./deliver/measure-half.ts";
import { toMarkdown } from "./deliver/report/markdown.ts";
import type { Results } from "./deliver/report/results.ts";
import { keptAs, readSettings, type Settings, USAGE } from "./deliver/settings.ts";
import { describeMachine } from "./report/machine.ts";
import { summarizeProfiles } from "./report/profile.ts";
import { publish, RESULTS } from "./report/publish.ts";
import { runMain, stopOnSignal } from "./run-main.ts";

const PROFILES = join(BENCH_CACHE, "deliver-profiles");
const progress = createProgress();

/** Measures deliveries beside the floor of Temporal, without sleepers and beside them. */
async function main(settings: Settings): Promise<void> {
  await rm(PROFILES, { recursive: true, force: true });
  await mkdir(PROFILES, { recursive: true });
  await mkdir(RESULTS, { recursive: true });
  const stack = await startBenchStack(progress, settings.profile ? PROFILES : undefined);
  stopOnSignal(stack.stop);
  try {
    if (settings.profile) await profile(stack, settings);
    else {
      const results = await measure(stack, settings);
      await publish(results, toMarkdown(results), keptAs(settings));
    }
  } finally {
    await stack.stop();
  }
}

async function measure(stack: BenchStack, settings: Settings): Promise<Results> {
  const targets = await prepareTargets(stack, settings);
  const alone = await measureHalf(stack, targets, settings, { label: "Alone", progress });
  const machine = describeMachine(stack.databaseVersion);
  if (settings.sleepers === 0) return { machine, settings, alone, beside: undefined };
  const sleepersPerSecond = await addSleepers(stack, settings.sleepers, progress);
  const half = await measureHalf(stack, targets, settings, { label: "Beside sleepers", progress });
  return { machine, settings, alone, beside: { ...half, sleepersPerSecond } };
}

/** Runs one backlog under the profiler and says where the product's process spent its time. */
async function profile(stack: BenchStack, settings: Settings): Promise<void> {
  const { one } = await prepareTargets(stack, settings);
  const { perSecond } = await measureBacklog(stack, [one], settings.backlog);
  await stack.stop();
  const summary = await summarizeProfiles(PROFILES, "Self time while a backlog is delivered");
  await writeFile(join(RESULTS, "deliver-profile.md"), summary);
  process.stdout.write(`\n${perSecond.toFixed(0)}/s with the profiler on.\n\n${summary}`);
}

await runMain(USAGE, (args) => main(readSettings(args)));
