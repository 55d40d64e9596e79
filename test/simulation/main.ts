import { parseArgs } from "node:util";
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

async function runFor(minutes: number, from: number): Promise<boolean> {
  const endMs = performance.now() + minutes * 60_000;
  let [seed, failed, faults, attempts] = [from, 0, 0, 0];
  for (; performance.now() < endMs; seed++) {
    const scenario = drawScenario(seed, versions);
    const outcome = await simulate(scenario);
    faults += outcome.faults.length;
    attempts += outcome.attempts;
    if (outcome.violation === undefined) continue;
    failed += 1;
    process.stdout.write(`${await report(scenario, outcome)}\n\n`);
  }
  const runs = seed - from;
  process.stdout.write(
    `${runs} scenarios from seed ${from}, ${failed} broke a rule; ${(runs / minutes).toFixed(0)} a minute, ` +
      `${(faults / runs).toFixed(1)} faults and ${(attempts / runs).toFixed(1)} attempts each\n`,
  );
  return failed === 0;
}

async function runSeed(seed: number): Promise<boolean> {
  const scenario = drawScenario(seed, versions);
  const text = await report(scenario, await simulate(scenario));
  process.stdout.write(`${text || `seed ${seed} breaks no rule`}\n`);
  return text === "";
}

let isGood: boolean;
if (values.planted) isGood = runPlanted(positionals[0] ?? "");
else if (values.seed !== undefined) isGood = await runSeed(Number(values.seed));
else isGood = await runFor(Number(values.minutes), Number(values.from));
if (!isGood) process.exitCode = 1;
