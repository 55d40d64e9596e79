import { WebhookEventKind } from "@activity/proto";
import { runFloor } from "./floor/floor.ts";
import { startContributions } from "./load/contributions.ts";
import { medianOf } from "./report/runs.ts";
import { runBench } from "./run/bench.ts";
import { keptSide, measureRounds } from "./run/rounds.ts";
import { makeOneAndMany, startDeliveryStack } from "./stack/delivery-stack.ts";
import { makeHanging } from "./webhooks/hanging.ts";
import { createLayout, LAYOUT_NAMES, type Layout } from "./webhooks/layouts.ts";
import { countWrong, FLOOR, layoutGoals, layoutTable } from "./webhooks/report.ts";
import { MANY_WRITERS, measureCase, WRITE_CASES, type WriteCase } from "./webhooks/write-case.ts";

const CASE_NAMES = WRITE_CASES.map(({ name }) => name);
/** `only` names layouts and cases. Without a layout, all layouts are measured. Without a case, all cases are. */
const full = {
  ...{ rounds: 3, warmUpSeconds: 3, seconds: 4, longSeconds: 10 },
  ...{ floor: 500, accounts: 1_000, hanging: 50_000, only: [] as readonly string[] },
};
const short = {
  ...{ rounds: 1, warmUpSeconds: 0.3, seconds: 0.3, longSeconds: 1 },
  ...{ floor: 20, accounts: 20, hanging: 500 },
  only: ["8-one", "64-many", "steady", "beside-hanging"],
};
const options = { rounds: 1, only: [...LAYOUT_NAMES, ...CASE_NAMES] };
const WARM_UP = { name: "warm-up", workers: MANY_WRITERS, to: "many" } as const;
/** The floor warms up with its count divided by this. A cold floor is slow, and would favour the product. */
const WARM_UP_SHARE = 5;

/** Measures webhooks from the writing call to the receiver, beside empty workflows: the floor of Temporal. */
await runBench({ name: "bench:webhooks", full, short, options }, async (bench) => {
  const { settings } = bench;
  const { rounds, accounts, seconds, longSeconds, only } = settings;
  const named = <Name extends string>(all: readonly Name[]) => {
    const some = all.filter((name) => only.includes(name));
    return some.length > 0 ? some : all;
  };
  const stack = await startDeliveryStack(bench, "webhooks");
  const { store, temporal, receiver } = stack;
  const load = startContributions(bench);
  const accountIds = await makeOneAndMany(stack, WebhookEventKind.SUBSCRIPTION_CREATED, accounts);
  const hanging = await bench.progress.step("Writing a hanging backlog", () =>
    makeHanging(stack, load, settings.hanging),
  );
  await stack.product.stop();

  const beside = { database: store.pid, Temporal: temporal.pid };
  const measure = async (layout: Layout, writeCase: WriteCase, seconds: number) => {
    const { workers, perSecond, to, besideHanging } = writeCase;
    const pids = { ...layout.pids, ...beside, load: load.pid, receiver: receiver.pid };
    const core = { port: layout.corePort(), credential: store.credential };
    const job = { ...core, accountIds: accountIds[to], workers, perSecond, seconds };
    if (besideHanging) await hanging.put();
    const figures = await measureCase({ ...stack, load }, pids, job, hanging.endpointId);
    if (besideHanging) await hanging.take();
    return figures;
  };
  const layouts = named(LAYOUT_NAMES).map((name) =>
    createLayout(bench, name, stack.ground, (layout) =>
      measure(layout, WARM_UP, settings.warmUpSeconds),
    ),
  );
  const cases = WRITE_CASES.filter(({ name }) => named(CASE_NAMES).includes(name));
  const turns = layouts.flatMap((side) =>
    cases.map((each) => {
      const run = () => measure(side, each, each.long ? longSeconds : seconds);
      return { side, load: each.name, run };
    }),
  );
  const empty = (count: number) => runFloor(stack.floor, temporal, count);
  const side = keptSide(FLOOR.side, {}, {});
  const floorTurn = { side, load: FLOOR.load, run: () => empty(settings.floor) };
  await bench.progress.step("Warming up", () => empty(Math.ceil(settings.floor / WARM_UP_SHARE)));
  const runs = await measureRounds(bench, rounds, () => [floorTurn, ...turns]);
  const wrong = countWrong(runs);
  return {
    on: stack.on,
    about: [
      `${rounds} rounds, the cases in turn, ${seconds} s of writing each, ${longSeconds} s at 20 a second and around the backlog; medians. Everything shares the machine.`,
      `The floor: ${medianOf(runs, FLOOR, "perSecond").toFixed(0)} empty workflows a second.`,
    ],
    blocks: named(LAYOUT_NAMES).map((name) => layoutTable(runs, name, accounts)),
    goals: named(LAYOUT_NAMES).flatMap((name) => layoutGoals(runs, name, accounts)),
    wrong: wrong > 0 ? `${wrong} events were lost or came more than once` : undefined,
  };
});
