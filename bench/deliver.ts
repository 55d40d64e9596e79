import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  CASE_NAMES,
  CASES,
  type CaseName,
  measureBacklog,
  measureCounting,
} from "./deliver/cases.ts";
import {
  ALONE,
  BESIDE,
  COUNTING,
  costTable,
  deliverGoals,
  rateTable,
  STEADY,
  steadyTable,
  WRITING,
} from "./deliver/report.ts";
import { addSleepers } from "./deliver/sleepers.ts";
import { type Stack, startStack } from "./deliver/stack.ts";
import { measureSteady, measureWriting } from "./deliver/steady.ts";
import type { Figures } from "./measure/figures.ts";
import { readMemory } from "./measure/process-usage.ts";
import { summarizeProfiles } from "./report/profile.ts";
import { RESULTS } from "./report/report.ts";
import { grouped } from "./report/table.ts";
import { type Bench, runBench } from "./run/bench.ts";
import { measureRounds, takeTurns } from "./run/rounds.ts";
import { isSame } from "./run/settings.ts";
import { makeFolder } from "./stack/servers.ts";

/** `sleepers` are deliveries asleep in a second stack, measured in turn with the first; 0 leaves it out. */
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

/** Measures deliveries beside the floor of Temporal, in turn where nothing sleeps and beside sleepers. */
await runBench({ name: "bench:deliver", full, short, options }, async (bench) => {
  const { settings } = bench;
  if (settings.profile) return profile(bench);
  const stacks = [await startStack(bench, ALONE, "deliver")];
  let beside: string[][] = [];
  if (settings.sleepers > 0) {
    const stack = await startStack(bench, BESIDE, "deliver-sleepers");
    stacks.push(stack);
    const perSecond = await addSleepers(bench, stack, settings.sleepers);
    const asleep = `${grouped(settings.sleepers)} deliveries asleep`;
    beside = [[`The same beside ${asleep}, which were put to sleep at ${perSecond.toFixed(0)}/s:`]];
  }
  const runs = await measureStacks(bench, stacks);
  if (beside.length > 0) beside.push(costTable(runs, BESIDE));
  const [floor, backlog, accounts, failing, workflows] = [
    settings.floor,
    settings.backlog,
    settings.accounts,
    settings.failing,
    settings.workflows,
  ].map(grouped);
  return {
    on: `${stacks[0]?.store.version}, Temporal on SQLite (write-ahead log, synced)`,
    about: [
      `${settings.rounds} rounds, the cases in turn, medians: ${floor} empty workflows, backlogs of ${backlog} (to 1 account, to ${accounts}), ${failing} failing, ${workflows} that are a workflow each; then ${settings.steadySeconds} s steady. Everything shares the machine.`,
    ],
    blocks: [
      rateTable(runs),
      steadyTable(
        runs,
        stacks.map(({ name }) => name),
      ),
      ["What one delivery costs, or one empty workflow:"],
      costTable(runs, ALONE),
      ...beside,
    ],
    goals: deliverGoals(runs, beside.length > 0),
    figures: { runs },
    keptAs: isSame(settings, { ...full, sleepers: 0 }) ? "deliver-alone" : undefined,
  };
});

/** Warms up, gives each case of each stack its turn, and measures once what follows. */
async function measureStacks(bench: Bench<Settings>, stacks: readonly Stack[]) {
  const { settings } = bench;
  const { rounds, warmsUp, steadySeconds } = settings;
  const turn = (side: Stack, load: string, run: () => Promise<Figures>) => ({ side, load, run });
  const cases = (round: number, sizes: Settings) => {
    // None is always the second: a machine that grows slower would count against that one.
    const inTurn = round % 2 === 1 ? stacks : stacks.toReversed();
    return CASE_NAMES.flatMap((name: CaseName) =>
      inTurn.map((stack) => turn(stack, name, () => CASES[name].measure(stack, sizes))),
    );
  };
  if (warmsUp) await takeTurns(bench, "Warming up", cases(1, shareOf(settings, WARM_UP_SHARE)));
  const runs = await measureRounds(bench, rounds, (round) => cases(round, settings));
  const last = stacks.flatMap((stack) => [
    turn(stack, COUNTING, () => measureCounting(stack)),
    turn(stack, WRITING, () => measureWriting(stack, steadySeconds)),
    turn(stack, STEADY, async () => ({
      ...(await measureSteady(stack, steadySeconds)),
      ...(await memoryOf("product", stack.product.pid)),
      ...(await memoryOf("Temporal", stack.temporal.pid)),
    })),
  ]);
  return [...runs, ...(await measureRounds(bench, 1, () => last))];
}

function shareOf(settings: Settings, share: number): Settings {
  const { floor, backlog, failing, workflows } = settings;
  const sizes = Object.entries({ floor, backlog, failing, workflows });
  const less = sizes.map(([name, size]) => [name, Math.ceil(size / share)]);
  return { ...settings, ...Object.fromEntries(less) };
}

async function memoryOf(name: string, pid: number): Promise<Figures> {
  const { nowMb, peakMb } = await readMemory(pid);
  return { [`${name} MB`]: nowMb, [`${name} peak MB`]: peakMb };
}

/** Runs one backlog under the profiler and says where the product's process spent its time. */
async function profile(bench: Bench<Settings>): Promise<undefined> {
  const folder = await makeFolder(bench, "deliver-profiles");
  const file = join(folder, "product.cpuprofile");
  const stack = await startStack(bench, ALONE, "deliver", file);
  const { perSecond } = await measureBacklog(stack, stack.accountIds.one, bench.settings.backlog);
  const summary = await summarizeProfiles(folder, "Self time while a backlog is delivered");
  await writeFile(join(RESULTS, "deliver-profile.md"), summary);
  process.stdout.write(`\n${perSecond?.toFixed(0)}/s with the profiler on.\n\n${summary}`);
}
