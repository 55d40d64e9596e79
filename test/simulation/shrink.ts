import type { Scenario } from "./scenario.ts";
import { type Outcome, simulate } from "./simulate.ts";

/** Enough for a scenario of 40 actions and some hundred faults. */
const MAX_RUNS = 300;

/** Returns the least scenario found that breaks the same rule: with fewer actions, faults and processes. */
export async function shrink(scenario: Scenario, rule: string): Promise<Scenario> {
  let runs = 0;
  let least = scenario;

  async function keepIfBroken(smaller: Scenario): Promise<Outcome | undefined> {
    runs += 1;
    if (runs > MAX_RUNS) return undefined;
    const outcome = await simulate(smaller);
    if (outcome.violation?.rule !== rule) return undefined;
    least = smaller;
    return outcome;
  }

  /** Leaves out parts of a list, ever smaller ones, as long as the rule stays broken. */
  async function without<Item>(
    list: () => readonly Item[],
    leaving: (left: readonly Item[]) => Scenario,
  ): Promise<void> {
    for (let size = list().length; size >= 1; size = Math.floor(size / 2)) {
      for (let start = 0; start < list().length && runs <= MAX_RUNS; ) {
        const items = list();
        const left = [...items.slice(0, start), ...items.slice(start + size)];
        if (!(await keepIfBroken(leaving(left)))) start += size;
      }
    }
  }

  await keepIfBroken({ ...least, faultShare: 0 });
  if (least.frozen !== undefined) await keepIfBroken({ ...least, frozen: undefined });
  await without(
    () => least.actions,
    (actions) => ({ ...least, actions }),
  );
  if (least.faultShare > 0) {
    const { faults } = await simulate(least);
    const isSkipped = (name: string) => least.skipped.includes(name);
    await without(
      () => faults.filter((name) => !isSkipped(name)),
      (left) => ({ ...least, skipped: faults.filter((name) => !left.includes(name)) }),
    );
  }
  if (least.dispatchers > 1) await keepIfBroken({ ...least, dispatchers: 1 });
  return least;
}
