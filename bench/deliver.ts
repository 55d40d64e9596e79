import { CASE_NAMES, CASES, measureBacklog, measureCounting } from "./deliver/cases.ts";
import { ALONE, BESIDE, COUNTING, STEADY, WRITING } from "./deliver/places.ts";
import { costTable, deliverGoals, rateTable, steadyTable } from "./deliver/report.ts";
import { addSleepers } from "./deliver/sleepers.ts";
import { type Stack, startStack } from "./deliver/stack.ts";
import { measureSteady, measureWriting } from "./deliver/steady.ts";
import type { Figures } from "./measure/figures.ts";
import { grouped } from "./report/table.ts";
import { type Bench, runBench } from "./run/bench.ts";
import { measureRounds, takeTurns } from "./run/rounds.ts";
import { makeProfiles } from "./stack/servers.ts";

/** `sleepers`: how many deliveries sleep in a second stack, which takes turns with the first. 0 omits that stack. */
const full = {
  ...{ warmsUp: true, rounds: 3, floor: 1_000, backlog: 10_000, accounts: 1_000, failing: 2_000 },
  ...{ workflows: 1_000, steadySeconds: 30, sleepers: 100_000, profile: false },
};
type Settings = typeof full;
const short: Settings = {
  ...{ warmsUp: false, rounds: 1, floor: 50, backlog: 200, accounts: 20, failing: 50 },
  ...{ workflows: 20, steadySeconds: 1, sleepers: 50, profile: false },
};
const options = { profile: "flag", sleepers: 0, rounds: 1, backlog: 1 } as const;
const WARM_UP_SHARE = 10;

/** Compares deliveries with empty workflows, which are the floor of Temporal, with and without sleepers in turn. */
await runBench({ name: "bench:deliver", full, short, options }, async (bench) => {
  const { settings } = bench;
  const { rounds, floor, backlog, accounts, failing, workflows, steadySeconds, sleepers } =
    settings;
  if (settings.profile) return profile(bench);
  const alone = await startStack(bench, ALONE, "deliver");
  const beside = sleepers > 0 ? await startStack(bench, BESIDE, "deliver-sleepers") : undefined;
  const perSecond = beside && (await addSleepers(bench, beside, sleepers));
  const stacks = beside ? [alone, beside] : [alone];
  const runs = await measureStacks(bench, stacks);
  const asleep = `${grouped(sleepers)} deliveries asleep, which were put to sleep at`;
  return {
    on: alone.on,
    about: [
      `${rounds} rounds, the cases in turn, medians: ${grouped(floor)} empty workflows, backlogs of ${grouped(backlog)} (to 1 account, to ${grouped(accounts)}), ${grouped(failing)} failing, ${grouped(workflows)} that are a workflow each; then ${steadySeconds} s steady. Everything shares the machine.`,
    ],
    blocks: [
      rateTable(runs),
      steadyTable(runs, beside ? [ALONE, BESIDE] : [ALONE]),
      ["What one delivery costs, or one empty workflow:"],
      costTable(runs, ALONE),
      perSecond ? [`The same beside ${asleep} ${perSecond.toFixed(0)}/s:`] : [],
      beside ? costTable(runs, BESIDE) : [],
    ],
    goals: deliverGoals(runs, beside !== undefined),
  };
});

/** Warms up, measures each case of each stack in turn, then the cases that run once. */
async function measureStacks(bench: Bench<Settings>, stacks: readonly Stack[]) {
  const { settings } = bench;
  const { rounds, warmsUp, steadySeconds } = settings;
  const turn = (side: Stack, load: string, run: () => Promise<Figures>) => ({ side, load, run });
  const cases = (round: number, share: number) => {
    // The order alternates. Otherwise a machine that becomes slower would count against one stack.
    const inTurn = round % 2 === 1 ? stacks : stacks.toReversed();
    return CASE_NAMES.flatMap((name) => {
      const count = Math.ceil(settings[CASES[name].size] / share);
      return inTurn.map((stack) => turn(stack, name, () => CASES[name].measure(stack, count)));
    });
  };
  if (warmsUp) await takeTurns(bench, "Warming up", cases(1, WARM_UP_SHARE));
  const runs = await measureRounds(bench, rounds, (round) => cases(round, 1));
  const last = stacks.flatMap((stack) => [
    turn(stack, COUNTING, () => measureCounting(stack)),
    turn(stack, WRITING, () => measureWriting(stack, steadySeconds)),
    turn(stack, STEADY, () => measureSteady(stack, steadySeconds)),
  ]);
  return [...runs, ...(await measureRounds(bench, 1, () => last))];
}

/** Runs one backlog under the profiler. */
async function profile(bench: Bench<Settings>): Promise<undefined> {
  const stack = await startStack(bench, ALONE, "deliver", await makeProfiles("deliver"));
  const { perSecond } = await measureBacklog(stack, stack.accountIds.one, bench.settings.backlog);
  process.stdout.write(`${perSecond?.toFixed(0)}/s with the profiler on.\n`);
}
