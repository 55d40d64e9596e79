import { once } from "node:events";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { runPlanted } from "./planted/run-planted.ts";
import { report } from "./report.ts";
import { drawScenario } from "./scenario.ts";
import { simulate } from "./simulate.ts";
import { loadPrevious, THIS_VERSION } from "./version.ts";

/** The first seed by default. It comes after the seeds that `npm test` runs in sequence. */
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

/** The totals of several scenarios. */
type Sum = { runs: number; failed: number; faults: number; attempts: number };

/** The number of threads. If there are n, each thread runs every n-th seed. */
const THREADS = availableParallelism();
/**
 * A thread ends after this time. Until then Node keeps each abort signal that a killed process waits for, and its
 * memory.
 */
const MAX_THREAD_MS = 5 * 60_000;

/** Runs scenarios for a time, and prints those that break a rule. */
async function runHere(forMs: number, from: number): Promise<Sum> {
  const endMs = performance.now() + forMs;
  const sum = { runs: 0, failed: 0, faults: 0, attempts: 0 };
  for (; performance.now() < endMs; sum.runs++) {
    const scenario = drawScenario(from + sum.runs * THREADS, versions);
    const outcome = await simulate(scenario);
    sum.faults += outcome.faults.length;
    sum.attempts += outcome.attempts;
    if (outcome.violation === undefined) continue;
    sum.failed += 1;
    process.stdout.write(`${await report(scenario, outcome)}\n\n`);
  }
  return sum;
}

async function runInThread(forMs: number, from: number): Promise<Sum> {
  const thread = new Worker(fileURLToPath(import.meta.url), {
    ...{ argv: process.argv.slice(2), workerData: { forMs, from } },
  });
  const [sum]: Sum[] = await once(thread, "message");
  if (sum === undefined) throw new Error("a thread ended without its sum");
  return sum;
}

async function runFor(minutes: number, from: number): Promise<boolean> {
  const endMs = performance.now() + minutes * 60_000;
  const sums: Sum[] = [];
  let next = from;
  for (let leftMs = minutes * 60_000; leftMs > 0; leftMs = endMs - performance.now()) {
    const forMs = Math.min(leftMs, MAX_THREAD_MS);
    const places = Array.from({ length: THREADS }, (_, place) => next + place);
    const added = await Promise.all(places.map((place) => runInThread(forMs, place)));
    next += THREADS * Math.max(...added.map(({ runs }) => runs));
    sums.push(...added);
  }
  const total = (of: keyof Sum) => sums.reduce((all, sum) => all + sum[of], 0);
  const [runs, failed] = [total("runs"), total("failed")];
  process.stdout.write(
    `${runs} scenarios from seed ${from}, ${failed} broke a rule; ${(runs / minutes).toFixed(0)} a minute, ` +
      `${(total("faults") / runs).toFixed(1)} faults and ${(total("attempts") / runs).toFixed(1)} attempts each\n`,
  );
  return failed === 0;
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
