import { WebhookEventKind } from "@activity/proto";
import { runFloor, startFloor } from "./floor/floor.ts";
import { startContributions } from "./load/contributions.ts";
import { makeTargets } from "./load/targets.ts";
import { startWatch } from "./measure/watch.ts";
import { startProductProcess } from "./product/start-product.ts";
import { startReceiver } from "./receiver/start-receiver.ts";
import { medianOf } from "./report/runs.ts";
import { runBench } from "./run/bench.ts";
import { keptSide, measureRounds } from "./run/rounds.ts";
import { startBenchTemporal, startStore } from "./stack/servers.ts";
import { createLayout, LAYOUT_NAMES } from "./webhooks/layouts.ts";
import { countWrong, FLOOR, layoutGoals, layoutTable } from "./webhooks/report.ts";
import { MANY_WRITERS, measureCase, WRITE_CASES } from "./webhooks/write-case.ts";

const CASE_NAMES = WRITE_CASES.map(({ name }) => name);
/** Names of layouts and cases; without one of a kind, all of it. */
const full = {
  ...{ rounds: 3, warmUpSeconds: 3, seconds: 4, steadySeconds: 10, floor: 500, accounts: 1_000 },
  only: [] as readonly string[],
};
const short = {
  ...{ rounds: 1, warmUpSeconds: 0.3, seconds: 0.3, steadySeconds: 1, floor: 20, accounts: 20 },
  only: ["8-one", "64-many", "steady"],
};
const options = { rounds: 1, only: [...LAYOUT_NAMES, ...CASE_NAMES] };
/** Of the floor; without it, the first round's ratios would flatter the product. */
const WARM_UP_SHARE = 5;

/** Measures webhooks end to end, from calls that write to the receiver, beside the floor of Temporal. */
await runBench({ name: "bench:webhooks", full, short, options }, async (bench) => {
  const { settings } = bench;
  const { accounts, warmUpSeconds, seconds, steadySeconds } = settings;
  const named = <Name extends string>(all: readonly Name[]) => {
    const some = all.filter((name) => settings.only.includes(name));
    return some.length > 0 ? some : all;
  };
  const store = await startStore(bench, "webhooks");
  const temporal = await startBenchTemporal(bench, store.folder);
  const receiver = await startReceiver(bench);
  const load = startContributions(bench);
  const floor = startFloor(bench);
  const on = { load, receiver, watch: startWatch(bench, store.databaseUrl) };
  const ground = { store, temporal, receiver, folder: store.folder };

  const maker = startProductProcess(bench, ground);
  const { clients } = await maker.collect();
  const make = (prefix: string, count: number) =>
    makeTargets(clients, receiver, WebhookEventKind.SUBSCRIPTION_CREATED, prefix, count);
  const accountIds = { one: await make("bench_one", 1), many: await make("bench", accounts) };
  await maker.stop();

  const beside = {
    ...{ database: store.pid, Temporal: temporal.pid, load: load.pid, receiver: receiver.pid },
  };
  const coreOf = (port: number) => ({ port, credential: store.credential });
  const layouts = named(LAYOUT_NAMES).map((name) =>
    createLayout(bench, name, ground, beside, ({ pids, corePort }) => {
      const pace = { workers: MANY_WRITERS, seconds: warmUpSeconds };
      return measureCase(on, pids, coreOf(corePort()), accountIds.many, pace);
    }),
  );
  const floorTurn = {
    ...{ side: keptSide(FLOOR.side, {}, {}), load: FLOOR.load },
    run: () => runFloor(floor, temporal, settings.floor),
  };
  const cases = WRITE_CASES.filter(({ name }) => named(CASE_NAMES).includes(name));
  const turns = layouts.flatMap((side) =>
    cases.map(({ name, workers, to, perSecond }) => ({
      ...{ side, load: name },
      run() {
        const pace = { workers, perSecond, seconds: perSecond ? steadySeconds : seconds };
        return measureCase(on, side.pids, coreOf(side.corePort()), accountIds[to], pace);
      },
    })),
  );
  await bench.progress.step("Warming up: floor", () =>
    runFloor(floor, temporal, Math.ceil(settings.floor / WARM_UP_SHARE)),
  );
  const runs = await measureRounds(bench, settings.rounds, () => [floorTurn, ...turns]);
  const wrong = countWrong(runs);
  return {
    on: `${store.version}, Temporal on SQLite (write-ahead log, synced)`,
    about: [
      `${settings.rounds} rounds, the cases in turn, ${seconds} s of writing each, ${steadySeconds} s at 20 a second; medians. Everything shares the machine.`,
      `The floor: ${medianOf(runs, FLOOR, "perSecond").toFixed(0)} empty workflows a second.`,
    ],
    blocks: named(LAYOUT_NAMES).map((name) => layoutTable(runs, name, accounts)),
    goals: named(LAYOUT_NAMES).flatMap((name) => layoutGoals(runs, name, accounts)),
    figures: { runs },
    wrong: wrong > 0 ? `${wrong} events were lost or came more than once` : undefined,
  };
});
