import type { Figures } from "./measure/figures.ts";
import { medianOf, type Run, ratioOf } from "./report/runs.ts";
import { type Column, grouped, table } from "./report/table.ts";
import { runBench } from "./run/bench.ts";
import { measureRounds, takeTurns } from "./run/rounds.ts";
import { type LoadSize, startLoads } from "./shards/loads.ts";
import { labelOf, type ShardedStore, startShardedStore } from "./shards/stores.ts";
import { makeFolder } from "./stack/servers.ts";

/** `accounts` are written to, `backlog` counts deliveries, cold pages are read of a third of `loadAccounts`. */
const full = {
  /** The numbers of shards that are measured beside the MySQL without Vitess. */
  shards: [1, 2, 4],
  ...{ rounds: 3, warmUpSeconds: 3, seconds: 6, accounts: 1_000, backlog: 10_000 },
  ...{ loadAccounts: 3_000, activitiesPerLoadAccount: 210 },
};
const short: typeof full = {
  ...{ shards: [1, 2], rounds: 1, warmUpSeconds: 0.3, seconds: 0.5, accounts: 20, backlog: 1_000 },
  ...{ loadAccounts: 300, activitiesPerLoadAccount: 70 },
};
const WARM_UP_SHARE = 10;
const PROCESSES = ["product", "vtgate", "vttablets", "MySQL"];
const LOADS = {
  reads: "cold pages, one after the other on each of 32 connections",
  writes: "contributions that nobody is told of, 64 writers",
  deliveries: "deliveries of a backlog",
};
type LoadName = keyof typeof LOADS;
const LOAD_NAMES = Object.keys(LOADS) as LoadName[]; // it has no other keys

/** Measures the product on a Vitess of 1, 2 and 4 shards beside the same MySQL without one. */
await runBench({ name: "bench:shards", full, short, options: { rounds: 1 } }, async (bench) => {
  const { rounds, seconds, warmUpSeconds, backlog, accounts, loadAccounts } = bench.settings;
  const folder = await makeFolder(bench, "shards");
  const size = { ...bench.settings, historyActivities: 0 };
  const stores: [string, ShardedStore][] = [];
  for (const shards of [0, ...bench.settings.shards]) {
    stores.push([labelOf(shards), await startShardedStore(bench, folder, shards, size)]);
  }
  const startSide = await startLoads(bench, folder, accounts, loadAccounts);
  const sides: Awaited<ReturnType<typeof startSide>>[] = [];
  for (const [label, store] of stores) sides.push(await startSide(label, store));
  const turns = (size: LoadSize) =>
    sides.flatMap((side) =>
      LOAD_NAMES.map((load) => ({ side, load, run: () => side.loads[load](size) })),
    );
  const less = { seconds: warmUpSeconds, backlog: Math.ceil(backlog / WARM_UP_SHARE) };
  await takeTurns(bench, "Warming up", turns(less));
  const runs = await measureRounds(bench, rounds, () => turns({ seconds, backlog }));
  const labels = sides.map(({ name }) => name);
  return {
    on: `mysql ${stores[0]?.[1].version}`,
    about: [
      `${grouped(accounts)} accounts are written to; ${rounds} rounds, the sides in turn; medians, ratios round by round. Everything shares the machine. Each shard has a MySQL and a vttablet of its own, and so has keyspace lookup, which are counted too; etcd and vtctld are not.`,
    ],
    blocks: LOAD_NAMES.flatMap((load) => [
      ...[[`## ${load}: ${LOADS[load]}`], loadTable(runs, load, labels)],
    ]),
    figures: { runs },
  };
});

function loadTable(runs: readonly Run[], load: LoadName, sides: readonly string[]): string[] {
  const cpu = (name: string) => (figures: Figures) => figures[`cpu ${name}`] ?? Number.NaN;
  const all = (figures: Figures) => PROCESSES.reduce((sum, name) => sum + cpu(name)(figures), 0);
  const plain = { side: sides[0] ?? "", load };
  return table(sides, [
    ["", (side) => side],
    ["a second", (side) => medianOf(runs, { side, load }, "perSecond"), 0],
    ...PROCESSES.map((name): Column<string> => {
      return [`${name}, CPU ms each`, (side) => medianOf(runs, { side, load }, cpu(name)), 2];
    }),
    ["all", (side) => medianOf(runs, { side, load }, all), 2],
    ["× without Vitess", (side) => ratioOf(runs, { side, load }, plain, all), 2],
  ]);
}
