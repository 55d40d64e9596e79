import { fillDeliveries } from "../test/harness/filled-deliveries.ts";
import { fillDonations } from "./dashboard-list/donations.ts";
import { DELIVERIES, filtersOf, type ListFilter } from "./dashboard-list/filters.ts";
import { makeAccounts } from "./load/targets.ts";
import { countEach, type Figures } from "./measure/figures.ts";
import { cpuOf } from "./measure/process-usage.ts";
import { sampleSince, sharedNowMs } from "./measure/sample.ts";
import { startWatch } from "./measure/watch.ts";
import { clientsOf } from "./product/start-product.ts";
import { atMost } from "./report/goal.ts";
import { table } from "./report/table.ts";
import { runBench } from "./run/bench.ts";
import { startCore } from "./sides/programs.ts";
import { startStore } from "./stack/servers.ts";

const GOAL_MS = 100;
const full = { deliveries: 1_000_000, calls: 100 };
const short = { deliveries: 20_000, calls: 5 };

/** Measures lists of an account's deliveries through the core's port, with every filter. */
await runBench({ name: "bench:dashboard:list", full, short }, async (bench) => {
  const { deliveries, calls } = bench.settings;
  const store = await startStore(bench, "dashboard-list");
  const core = await startCore(bench, "dashboard-list-core", store.env);
  const clients = clientsOf(core.port, store);
  const [accountId = ""] = await makeAccounts(clients, "bench", 1);
  const watch = startWatch(bench, store.databaseUrl);
  const middle = await bench.progress.step("Writing deliveries", () =>
    fillDeliveries({ queryShards: watch.rows }, accountId, deliveries, DELIVERIES),
  );
  await bench.progress.step("Writing their donations", () => fillDonations(watch));

  /** Measures reads of a list's first and second page, alternately. */
  const read = async (filter: ListFilter) => {
    const { deliveries: shown, nextPageToken } = await clients.deliveries.listDeliveries(filter);
    if (shown.some(({ donation }) => donation === undefined))
      throw new Error("a donation is missing");
    const durationsMs: number[] = [];
    const startedMs = sharedNowMs();
    for (let call = 0; call < calls; call++) {
      const pageToken = call % 2 === 0 ? "" : nextPageToken;
      const sentMs = sharedNowMs();
      await clients.deliveries.listDeliveries({ ...filter, pageToken });
      durationsMs.push(sharedNowMs() - sentMs);
    }
    return sampleSince(startedMs, durationsMs);
  };
  // Warms up the core. Otherwise the figures of the first filter would include the core's slow first calls.
  for (const filter of Object.values(filtersOf(middle))) await read({ accountId, ...filter });
  const cpu = cpuOf({ both: [store.pid, core.pid] });
  const lists: (readonly [filter: string, Figures])[] = [];
  for (const [name, filter] of Object.entries(filtersOf(middle))) {
    lists.push([name, await countEach([cpu], () => read({ accountId, ...filter }))]);
  }
  const of =
    (figure: string) =>
    ([, figures]: (typeof lists)[number]) =>
      figures[figure] ?? 0;
  return {
    on: store.version,
    about: [
      `Lists of an account with ${deliveries} deliveries to ten endpoints, 50 a page, each with its donation, by the core's port.`,
    ],
    blocks: [
      table(lists, [
        ["filter", ([name]) => name],
        ["p50 ms", of("p50Ms"), 1],
        ["p99 ms", of("p99Ms"), 1],
        ["CPU ms: core, database", of("cpu both"), 1],
      ]),
    ],
    goals: [atMost("slowest filter, p99", GOAL_MS, Math.max(...lists.map(of("p99Ms"))), "ms")],
  };
});
