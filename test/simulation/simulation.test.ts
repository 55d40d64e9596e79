import { expect, it } from "vitest";
import { report } from "./report.ts";
import { drawScenario } from "./scenario.ts";
import { FAILED_ONCE } from "./seeds.ts";
import { simulate } from "./simulate.ts";

/** Some 20 seconds of one core. */
const SEEDS = 300;
const TIMEOUT_MS = 300_000;

async function reportOf(seed: number): Promise<string> {
  const scenario = drawScenario(seed);
  return report(scenario, await simulate(scenario));
}

it.each([...FAILED_ONCE])(
  "seed %i, which found: %s",
  async (seed) => {
    expect(await reportOf(seed)).toBe("");
  },
  TIMEOUT_MS,
);

it(
  "deliveries are safe and all end, whatever befalls the processes, in 300 scenarios. ADR 0028",
  async () => {
    for (let seed = 1; seed <= SEEDS; seed++) expect(await reportOf(seed)).toBe("");
  },
  TIMEOUT_MS,
);

it("a scenario that is run again comes to the same end", async () => {
  const scenario = drawScenario(7);
  const [one, other] = [await simulate(scenario), await simulate(scenario)];
  expect(other).toEqual(one);
});
