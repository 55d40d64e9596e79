import { runPlanted } from "./planted/run-planted.ts";
import { report } from "./report.ts";
import { drawScenario } from "./scenario.ts";
import { simulate } from "./simulate.ts";

// npm run test:simulation -- --minutes 30 [--from SEED]   as many scenarios as fit
// npm run test:simulation -- --seed SEED                  one scenario, shrunk if it breaks a rule
//
// npm run test:simulation -- --planted [PART]             all planted bugs, or those whose names contain PART

/** Behind those of `npm test`. */
const FIRST_SEED = 1_001;

function textAfter(name: string): string | undefined {
  const place = process.argv.indexOf(name);
  return place < 0 ? undefined : (process.argv[place + 1] ?? "");
}

function numberAfter(name: string): number | undefined {
  const text = textAfter(name);
  return text === undefined ? undefined : Number(text);
}

async function runFor(minutes: number, from: number): Promise<void> {
  const endMs = performance.now() + minutes * 60_000;
  let [seed, failed, faults, attempts] = [from, 0, 0, 0];
  for (; performance.now() < endMs; seed++) {
    const scenario = drawScenario(seed);
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
  if (failed > 0) process.exitCode = 1;
}

const seed = numberAfter("--seed");
const planted = textAfter("--planted");
if (planted !== undefined) {
  if (!runPlanted(planted)) process.exitCode = 1;
} else if (seed !== undefined) {
  const scenario = drawScenario(seed);
  const text = await report(scenario, await simulate(scenario));
  process.stdout.write(`${text || `seed ${seed} breaks nothing`}\n`);
  if (text !== "") process.exitCode = 1;
} else {
  await runFor(numberAfter("--minutes") ?? 1, numberAfter("--from") ?? FIRST_SEED);
}
