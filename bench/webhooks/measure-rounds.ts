import type { Progress } from "../../dev-stack/src/progress.ts";
import { type CaseRun, measureCase } from "./cases/measure-case.ts";
import { labelOf, MANY_WRITERS, WRITE_CASES, type WriteCase } from "./cases/write-case.ts";
import { LAYOUT_LABELS, type LayoutName, type RunningLayout } from "./layouts/layout.ts";
import { startLayout } from "./layouts/start-layout.ts";
import type { Settings } from "./settings.ts";
import type { Accounts, WebhooksStack } from "./webhooks-stack.ts";

/** What one layout did in one round, by the names of the cases. */
export type LayoutRound = Readonly<Record<string, CaseRun>>;

/** One round: the floor, then each layout. */
export type Round = {
  /** Empty workflows a second, started eagerly and awaited. */
  readonly floorPerSecond: number;
  readonly layouts: Readonly<Partial<Record<LayoutName, LayoutRound>>>;
};

const WARM_UP: WriteCase = {
  name: "warm-up",
  writers: MANY_WRITERS,
  to: "many",
  perSecond: undefined,
};

/** Of the floor; without it, the first round's ratios would flatter the product. */
const WARM_UP_SHARE = 5;

/** Measures the floor and each layout in turn, so that whatever else the machine does falls on all of them. */
export async function measureRounds(
  stack: WebhooksStack,
  accounts: Accounts,
  settings: Settings,
  progress: Progress,
): Promise<Round[]> {
  await progress.step("Warming up: floor", () =>
    measureFloor(stack, Math.ceil(settings.floor / WARM_UP_SHARE)),
  );
  const rounds: Round[] = [];
  for (let round = 1; round <= settings.rounds; round++) {
    const label = `Round ${round} of ${settings.rounds}`;
    const floorPerSecond = await progress.step(`${label}: floor`, () =>
      measureFloor(stack, settings.floor),
    );
    const layouts: Partial<Record<LayoutName, LayoutRound>> = {};
    for (const name of settings.layouts) {
      layouts[name] = await withLayout(stack, name, (layout) =>
        measureLayout(stack, layout, accounts, settings, {
          step: (text, run) => progress.step(`${label}, ${LAYOUT_LABELS[name]}: ${text}`, run),
        }),
      );
    }
    rounds.push({ floorPerSecond, layouts });
  }
  return rounds;
}

async function measureFloor({ floorWorker, temporal }: WebhooksStack, workflows: number) {
  const { seconds } = await floorWorker.run({ do: "empty", address: temporal.address, workflows });
  return workflows / seconds;
}

async function withLayout<Result>(
  stack: WebhooksStack,
  name: LayoutName,
  work: (layout: RunningLayout) => Promise<Result>,
): Promise<Result> {
  const layout = await startLayout(name, stack.layoutOptions);
  // For a run that a signal ends.
  stack.closeLater(layout.stop);
  try {
    return await work(layout);
  } finally {
    await layout.stop();
  }
}

async function measureLayout(
  stack: WebhooksStack,
  layout: RunningLayout,
  accounts: Accounts,
  settings: Settings,
  progress: Progress,
): Promise<LayoutRound> {
  const measure = (writeCase: WriteCase, seconds: number) =>
    measureCase(stack, layout, writeCase, { accountIds: accounts[writeCase.to], seconds });
  await progress.step("warming up", () => measure(WARM_UP, settings.warmUpSeconds));
  const runs: Record<string, CaseRun> = {};
  for (const writeCase of WRITE_CASES.filter(({ name }) => settings.cases.includes(name))) {
    const { name, perSecond } = writeCase;
    const seconds = perSecond === undefined ? settings.seconds : settings.steadySeconds;
    const label = labelOf(writeCase, settings.accounts);
    runs[name] = await progress.step(label, () => measure(writeCase, seconds));
  }
  return runs;
}
