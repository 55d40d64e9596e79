import type { Scenario } from "./scenario.ts";
import { shrink } from "./shrink.ts";
import { type Outcome, simulate } from "./simulate.ts";

/** Tells what a scenario broke, its seed, and the least scenario that breaks the same. */
export async function report(scenario: Scenario, outcome: Outcome): Promise<string> {
  const { violation } = outcome;
  if (violation === undefined) return "";
  const least = await shrink(scenario, violation.rule);
  const again = await simulate(least);
  const faults = again.faults.filter((name) => !least.skipped.includes(name));
  const { accounts, dispatchers, healsAtMs } = least;
  return [
    `seed ${scenario.seed} broke "${violation.message}"`,
    `again: npm run test:simulation -- --seed ${scenario.seed}`,
    `at least: endpoints of accounts ${accounts.join(", ")}; dispatchers ${dispatchers}`,
    ...(least.frozen === undefined ? [] : [`  for ever: ${JSON.stringify(least.frozen)}`]),
    ...least.actions.map((action) => `  ${JSON.stringify(action)}`),
    ...faults.map((name) => `  fault: ${name}`),
    `  healed at ${healsAtMs}: ${again.violation?.message ?? "nothing is broken"}`,
  ].join("\n");
}
