import { WebhookEventKind } from "@activity/proto";
import type { Progress } from "../../dev-stack/src/progress.ts";
import { type Memory, readMemory } from "../measure/process-usage.ts";
import { makeTargets, type Target } from "../stack/targets.ts";
import type { BenchStack } from "./bench-stack.ts";
import { measureBacklog } from "./cases/backlog.ts";
import type { CaseRun } from "./cases/case-run.ts";
import { measureCounting } from "./cases/counting.ts";
import { measureFailing } from "./cases/failing.ts";
import { measureFloor } from "./cases/floor.ts";
import { measureSteady, type SteadyRun } from "./cases/steady.ts";
import type { Settings } from "./settings.ts";

/** What is measured in rounds, in the order of a round. */
export const CaseName = {
  Floor: "floor",
  OneReceiver: "one-receiver",
  ManyAccounts: "many-accounts",
  Failing: "failing",
  Workflows: "workflows",
} as const;
export type CaseName = (typeof CaseName)[keyof typeof CaseName];

/** All that is measured of a stack. */
export type Measured = {
  readonly rounds: Readonly<Record<CaseName, readonly CaseRun[]>>;
  readonly counting: CaseRun;
  readonly steady: SteadyRun;
  /** At the end. */
  readonly memory: { readonly product: Memory; readonly temporal: Memory };
};

/** A stack, who is written to there, and what progress calls it. */
export type Side = {
  readonly label: string;
  readonly stack: BenchStack;
  readonly one: Target;
  readonly many: readonly Target[];
};

const WARM_UP_SHARE = 10;

/** Makes the accounts of a stack. */
export async function prepareSide(
  label: string,
  stack: BenchStack,
  settings: Settings,
): Promise<Side> {
  const clients = await stack.product.collect();
  const names = Array.from({ length: settings.accounts }, (_, index) => `bench_${index}`);
  const make = (some: readonly string[]) =>
    makeTargets(clients, stack.receiver.target, some, WebhookEventKind.DONATION_CREATED);
  const [one] = await make(["bench_one"]);
  if (one === undefined) throw new Error("no account was made");
  const many = await make(names);
  await stack.product.stop();
  return { label, stack, one, many };
}

/**
 * Warms up, then gives each case of each side its turn, so that whatever else the machine does falls on all of them.
 * Returns what was measured of each side.
 */
export async function measureSides(
  sides: readonly Side[],
  settings: Settings,
  progress: Progress,
): Promise<Measured[]> {
  const runs = sides.map((side) => ({ side, rounds: noRounds() }));
  for (const name of settings.warmsUp ? Object.values(CaseName) : []) {
    for (const side of sides) {
      const step = `${side.label}, warming up: ${name}`;
      await progress.step(step, () => runCase(name, side, settings, WARM_UP_SHARE));
    }
  }
  for (let round = 1; round <= settings.rounds; round++) {
    for (const name of Object.values(CaseName)) {
      // None is always the second: a machine that grows slower would count against that one.
      for (const { side, rounds } of round % 2 === 1 ? runs : runs.toReversed()) {
        const step = `${side.label}, round ${round} of ${settings.rounds}: ${name}`;
        rounds[name].push(await progress.step(step, () => runCase(name, side, settings, 1)));
      }
    }
  }
  const measured: Measured[] = [];
  for (const { side, rounds } of runs) {
    const { label, stack, one } = side;
    const counting = await progress.step(`${label}: counting`, () => measureCounting(stack));
    const steady = await progress.step(`${label}: steady`, () =>
      measureSteady(stack, one, settings.steadySeconds),
    );
    measured.push({ rounds, counting, steady, memory: await readMemories(stack) });
  }
  return measured;
}

function noRounds(): Record<CaseName, CaseRun[]> {
  return { floor: [], "one-receiver": [], "many-accounts": [], failing: [], workflows: [] };
}

function runCase(
  name: CaseName,
  { stack, one, many }: Side,
  settings: Settings,
  share: number,
): Promise<CaseRun> {
  const { floor, backlog, failing, workflows } = settings;
  switch (name) {
    case CaseName.Floor:
      return measureFloor(stack, Math.ceil(floor / share));
    case CaseName.OneReceiver:
      return measureBacklog(stack, [one], Math.ceil(backlog / share));
    case CaseName.ManyAccounts:
      return measureBacklog(stack, many, Math.ceil(backlog / share));
    case CaseName.Failing:
      return measureFailing(stack, [one], Math.ceil(failing / share));
    case CaseName.Workflows:
      return measureBacklog(stack, many, Math.ceil(workflows / share), "all");
  }
}

async function readMemories({ pids }: BenchStack): Promise<Measured["memory"]> {
  const [product, temporal] = await readMemory([pids.product, pids.Temporal]);
  if (product === undefined || temporal === undefined) throw new Error("a process is gone");
  return { product, temporal };
}
