import type { Scenario } from "./scenario.ts";
import { shrink } from "./shrink.ts";
import { type Outcome, simulate } from "./simulate.ts";

/** Describes how a scenario broke a rule, and the smallest scenario that breaks it too. Returns "" if it broke none. */
export async function report(scenario: Scenario, outcome: Outcome): Promise<string> {
  const { violation } = outcome;
  if (violation === undefined) return "";
  const least = await shrink(scenario, violation.rule);
  const again = await simulate(least);
  const faults = again.faults.filter((name) => !least.skipped.includes(name));
  const { accounts, dispatchers, versions, healsAtMs } = least;
  const option = scenario.versions.length > 1 ? " --versions" : "";
  return [
    `seed ${scenario.seed} broke "${violation.rule}: ${violation.what}"`,
    `to repeat: npm run test:simulation -- --seed ${scenario.seed}${option}`,
    `smallest scenario: endpoints of accounts ${accounts.join(", ")}; dispatchers ${dispatchers}`,
    `  of ${versions.map(({ name }) => name).join(" and ")}`,
    ...(least.frozen === undefined ? [] : [`  never heals: ${JSON.stringify(least.frozen)}`]),
    ...least.actions.map((action) => `  ${JSON.stringify(action)}`),
    ...faults.map((name) => `  fault: ${name}`),
    `  heals at ${healsAtMs}: ${again.violation?.what ?? "breaks no rule"}`,
  ].join("\n");
}
