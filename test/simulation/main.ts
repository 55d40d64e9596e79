import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { runPlanted } from "./planted/run-planted.ts";
import { report } from "./report.ts";
import { drawScenario } from "./scenario.ts";
import { simulate } from "./simulate.ts";
import { loadPrevious, THIS_VERSION } from "./version.ts";

// npm run test:simulation -- --minutes 30 [--from SEED]   as many scenarios as fit
// npm run test:simulation -- --seed SEED                  one scenario, shrunk if it breaks a rule
//
// npm run test:simulation -- --versions                   dispatchers of this version and of the one before
//
// npm run test:simulation -- --planted [PART]             all planted bugs, or those with PART in their names

/** After the seeds of `npm test`. */
const FIRST_SEED = "1001";

const { values, positionals } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    from: { type: "string", default: FIRST_SEED },
    seed: { type: "string" },
    versions: { type: "boolean", default: false },
    planted: { type: "boolean", default: false },
  },
  allowPositionals: true,
});

const versions = [THIS_VERSION, ...(values.versions ? [await loadPrevious()] : [])];

/** What a number of scenarios had together. `next` is the first seed after them. */
type Sum = { next: number; failed: number; faults: number; attempts: number };

/** Node keeps the signals that killed processes wait for, and all behind them. A thread's memory ends with it. */
const MAX_THREAD_MS = 5 * 60_000;

/** Runs scenarios for a time, and prints those that break a rule. */
async function runHere(forMs: number, from: number): Promise<Sum> {
  const endMs = performance.now() + forMs;
  const sum = { next: from, failed: 0, faults: 0, attempts: 0 };
  for (; performance.now() < endMs; sum.next++) {
    const scenario = drawScenario(sum.next, versions);
    const outcome = await simulate(scenario);
    sum.faults += outcome.faults.length;
    sum.attempts += outcome.attempts;
    if (outcome.violation === undefined) continue;
    sum.failed += 1;
    process.stdout.write(`${await report(scenario, outcome)}\n\n`);
  }
  return sum;
}

async function runFor(minutes: number, from: number): Promise<boolean> {
  const endMs = performance.now() + minutes * 60_000;
  const all: Sum = { next: from, failed: 0, faults: 0, attempts: 0 };
  for (let leftMs = minutes * 60_000; leftMs > 0; leftMs = endMs - performance.now()) {
    const given = { forMs: Math.min(leftMs, MAX_THREAD_MS), from: all.next };
    const thread = new Worker(fileURLToPath(import.meta.url), {
      ...{ argv: process.argv.slice(2), workerData: given },
    });
    const [sum]: Sum[] = await once(thread, "message");
    if (sum === undefined) break;
    all.next = sum.next;
    all.failed += sum.failed;
    all.faults += sum.faults;
    all.attempts += sum.attempts;
  }
  const runs = all.next - from;
  process.stdout.write(
    `${runs} scenarios from seed ${from}, ${all.failed} broke a rule; ${(runs / minutes).toFixed(0)} a minute, ` +
      `${(all.faults / runs).toFixed(1)} faults and ${(all.attempts / runs).toFixed(1)} attempts each\n`,
  );
  return all.failed === 0;
}

async function runSeed(seed: number): Promise<boolean> {
  const scenario = drawScenario(seed, versions);
  const text = await report(scenario, await simulate(scenario));
  process.stdout.write(`${text || `seed ${seed} breaks no rule`}\n`);
  return text === "";
}

function numberOf(text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`"${text}" must be a number above 0`);
  return number;
}

async function main(): Promise<boolean> {
  if (values.planted) return runPlanted(positionals[0] ?? "");
  if (values.seed !== undefined) return runSeed(numberOf(values.seed));
  return runFor(numberOf(values.minutes), numberOf(values.from));
}

if (isMainThread) process.exitCode = (await main()) ? 0 : 1;
else parentPort?.postMessage(await runHere(workerData.forMs, workerData.from));
