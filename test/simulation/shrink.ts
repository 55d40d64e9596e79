import type { Scenario } from "./scenario.ts";
import { simulate } from "./simulate.ts";

/** The most simulations: enough for a scenario with 40 actions and some hundred faults. */
const MAX_RUNS = 300;

/** Returns the smallest scenario found that breaks the same rule, with fewer actions, faults and processes. */
export async function shrink(scenario: Scenario, rule: string): Promise<Scenario> {
  let runs = 0;
  let least = scenario;

  async function keepIfBroken(smaller: Scenario): Promise<boolean> {
    runs += 1;
    if (runs > MAX_RUNS) return false;
    const { violation } = await simulate(smaller);
    if (violation?.rule !== rule) return false;
    least = smaller;
    return true;
  }

  /** Removes smaller and smaller parts of a list while the rule stays broken. */
  async function shorten<Item>(
    list: () => readonly Item[],
    leaving: (left: readonly Item[]) => Scenario,
  ): Promise<void> {
    for (let size = list().length; size >= 1; size = Math.floor(size / 2)) {
      for (let start = 0; start < list().length && runs <= MAX_RUNS; ) {
        const left = list().toSpliced(start, size);
        if (!(await keepIfBroken(leaving(left)))) start += size;
      }
    }
  }

  for (const version of least.versions) await keepIfBroken({ ...least, versions: [version] });
  await keepIfBroken({ ...least, faultShare: 0 });
  if (least.frozen !== undefined) await keepIfBroken({ ...least, frozen: undefined });
  await shorten(
    () => least.actions,
    (actions) => ({ ...least, actions }),
  );
  if (least.faultShare > 0) {
    const { faults } = await simulate(least);
    await shorten(
      () => faults.filter((name) => !least.skipped.includes(name)),
      (left) => ({ ...least, skipped: faults.filter((name) => !left.includes(name)) }),
    );
  }
  if (least.dispatchers > 1) await keepIfBroken({ ...least, dispatchers: 1 });
  return least;
}
