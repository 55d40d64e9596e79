import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createProgress } from "../dev-stack/src/progress.ts";
import { BENCH_CACHE } from "./data/bench-database.ts";
import { startBenchStack } from "./deliver/bench-stack.ts";
import { measureBacklog } from "./deliver/cases/backlog.ts";
import { addSleepers } from "./deliver/cases/sleepers.ts";
import { type Measured, measureSides, prepareSide, type Side } from "./deliver/measure-sides.ts";
import { toMarkdown } from "./deliver/report/markdown.ts";
import type { Results } from "./deliver/report/results.ts";
import { keptAs, readSettings, type Settings, USAGE } from "./deliver/settings.ts";
import { describeMachine } from "./report/machine.ts";
import { summarizeProfiles } from "./report/profile.ts";
import { publish, RESULTS } from "./report/publish.ts";
import { runMain, stopOnSignal } from "./run-main.ts";
import { createClosing } from "./stack/closing.ts";

const PROFILES = join(BENCH_CACHE, "deliver-profiles");
const progress = createProgress();

/** Measures deliveries beside the floor of Temporal, in turn where nothing sleeps and beside sleepers. */
async function main(settings: Settings): Promise<void> {
  await rm(PROFILES, { recursive: true, force: true });
  await mkdir(PROFILES, { recursive: true });
  await mkdir(RESULTS, { recursive: true });
  const closing = createClosing();
  stopOnSignal(closing.closeAll);
  const start = async (label: string, name: string, profileFolder?: string) => {
    const stack = await startBenchStack(progress, name, profileFolder);
    closing.add(stack.stop);
    return prepareSide(label, stack, settings);
  };
  try {
    const alone = await start("Alone", "deliver", settings.profile ? PROFILES : undefined);
    if (settings.profile) return await profile(alone, settings);
    const machine = describeMachine(alone.stack.databaseVersion);
    if (settings.sleepers === 0) {
      const [measured] = await measureSides([alone], settings, progress);
      return await report({ machine, settings, alone: required(measured), beside: undefined });
    }
    const beside = await start("Beside sleepers", "deliver-sleepers");
    const sleepersPerSecond = await addSleepers(beside.stack, settings.sleepers, progress);
    const [first, second] = await measureSides([alone, beside], settings, progress);
    const measured = { alone: required(first), beside: { ...required(second), sleepersPerSecond } };
    await report({ machine, settings, ...measured });
  } finally {
    await closing.closeAll();
  }
}

function report(results: Results): Promise<void> {
  return publish(results, toMarkdown(results), keptAs(results.settings));
}

function required(measured: Measured | undefined): Measured {
  if (measured === undefined) throw new Error("a side was not measured");
  return measured;
}

/** Runs one backlog under the profiler and says where the product's process spent its time. */
async function profile({ stack, one }: Side, settings: Settings): Promise<void> {
  const { perSecond } = await measureBacklog(stack, [one], settings.backlog);
  await stack.stop();
  const summary = await summarizeProfiles(PROFILES, "Self time while a backlog is delivered");
  await writeFile(join(RESULTS, "deliver-profile.md"), summary);
  process.stdout.write(`\n${perSecond.toFixed(0)}/s with the profiler on.\n\n${summary}`);
}

await runMain(USAGE, (args) => main(readSettings(args)));
