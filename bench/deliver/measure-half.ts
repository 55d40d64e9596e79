import { WebhookEventKind } from "@activity/proto";
import type { Progress } from "../../tools/stack/progress.ts";
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
} as const;
export type CaseName = (typeof CaseName)[keyof typeof CaseName];

/** All that is measured without sleepers, or beside them. */
export type Half = {
  readonly rounds: Readonly<Record<CaseName, readonly CaseRun[]>>;
  readonly counting: CaseRun;
  readonly steady: SteadyRun;
  /** At the end. */
  readonly memory: { readonly product: Memory; readonly temporal: Memory };
};

/** Who is written to. */
export type Targets = { readonly one: Target; readonly many: readonly Target[] };

const WARM_UP_SHARE = 10;

/** Makes the accounts of a run. */
export async function prepareTargets(stack: BenchStack, settings: Settings): Promise<Targets> {
  const clients = await stack.product.collect();
  const names = Array.from({ length: settings.accounts }, (_, index) => `bench_${index}`);
  const make = (some: readonly string[]) =>
    makeTargets(clients, stack.receiver.target, some, WebhookEventKind.DONATION_CREATED);
  const [one] = await make(["bench_one"]);
  if (one === undefined) throw new Error("no account was made");
  return { one, many: await make(names) };
}

/** Warms up, then gives each case its turn, so that whatever else the machine does falls on all of them. */
export async function measureHalf(
  stack: BenchStack,
  targets: Targets,
  settings: Settings,
  { label, progress }: { readonly label: string; readonly progress: Progress },
): Promise<Half> {
  const { one, many } = targets;
  const { rounds: count, floor, backlog, failing } = settings;
  const cases: Record<CaseName, (share: number) => Promise<CaseRun>> = {
    floor: (share) => measureFloor(stack, Math.ceil(floor / share)),
    "one-receiver": (share) => measureBacklog(stack, [one], Math.ceil(backlog / share)),
    "many-accounts": (share) => measureBacklog(stack, many, Math.ceil(backlog / share)),
    failing: (share) => measureFailing(stack, [one], Math.ceil(failing / share)),
  };
  const rounds: Record<CaseName, CaseRun[]> = {
    floor: [],
    "one-receiver": [],
    "many-accounts": [],
    failing: [],
  };
  for (const name of settings.warmsUp ? Object.values(CaseName) : []) {
    await progress.step(`${label}, warming up: ${name}`, () => cases[name](WARM_UP_SHARE));
  }
  for (let round = 1; round <= count; round++) {
    for (const name of Object.values(CaseName)) {
      const step = `${label}, round ${round} of ${count}: ${name}`;
      rounds[name].push(await progress.step(step, () => cases[name](1)));
    }
  }
  const counting = await progress.step(`${label}: counting`, () => measureCounting(stack));
  const steady = await progress.step(`${label}: steady`, () =>
    measureSteady(stack, one, settings.steadySeconds),
  );
  return { rounds, counting, steady, memory: await readMemories(stack) };
}

async function readMemories({ pids }: BenchStack): Promise<Half["memory"]> {
  const [product, temporal] = await readMemory([pids.product, pids.Temporal]);
  if (product === undefined || temporal === undefined) throw new Error("a process is gone");
  return { product, temporal };
}
