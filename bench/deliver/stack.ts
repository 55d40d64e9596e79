import { WebhookEventKind } from "@activity/proto";
import { connectTemporal, startFloor } from "../floor/floor.ts";
import { readTemporalCost } from "../floor/temporal-cost.ts";
import { openTemporalState } from "../floor/temporal-state.ts";
import { makeTargets } from "../load/targets.ts";
import { countEach, type Figures } from "../measure/figures.ts";
import { cpuOf } from "../measure/process-usage.ts";
import { secondsSince, sharedNowMs } from "../measure/sample.ts";
import { startWatch } from "../measure/watch.ts";
import { startProductProcess } from "../product/start-product.ts";
import { startReceiver } from "../receiver/start-receiver.ts";
import type { Bench } from "../run/bench.ts";
import { keptSide } from "../run/rounds.ts";
import { startBenchTemporal, startStore } from "../stack/servers.ts";

/** Everything that a side measures, running, and who is written to. */
export type Stack = Awaited<ReturnType<typeof startStack>>;

/** Processes by their names in a report. The receiver and what writes the events are one of them. */
export const PROCESSES = ["product", "floor's worker", "Temporal", "database", "receiver and load"];

/** Starts a database, a Temporal, a receiver and processes for the product and the floor, and makes the accounts. */
export async function startStack(
  bench: Bench<{ readonly accounts: number }>,
  name: string,
  folder: string,
  profileFile?: string,
) {
  const store = await startStore(bench, folder);
  const temporal = await startBenchTemporal(bench, store.folder);
  const receiver = await startReceiver(bench);
  const floor = startFloor(bench);
  const ground = { store, temporal, receiver, folder: store.folder, profileFile };
  const product = startProductProcess(bench, ground);
  const client = await connectTemporal(bench, temporal.address);
  const state = openTemporalState(temporal.stateFile);
  bench.closeLater(state.close);
  const { clients } = await product.collect();
  const make = (prefix: string, count: number) =>
    makeTargets(clients, receiver, WebhookEventKind.DONATION_CREATED, prefix, count);
  const accountIds = {
    one: await make("bench_one", 1),
    many: await make("bench", bench.settings.accounts),
  };
  await product.rest();
  const pids = {
    product: product.pid,
    "floor's worker": floor.pid,
    Temporal: temporal.pid,
    database: store.pid,
    "receiver and load": [process.pid, receiver.pid],
  };
  const watch = startWatch(bench, store.databaseUrl);
  return keptSide(name, pids, {
    ...{ store, temporal, receiver, floor, product, client, state, watch, accountIds },
  });
}

/** Measures `work`, which makes `count` deliveries, from `startedMs` on the shared clock until its end. */
export async function measureCase(
  { watch, pids, client }: Stack,
  count: number,
  work: () => Promise<unknown>,
  startedMs = sharedNowMs(),
): Promise<Figures> {
  const sinceMs = Date.now();
  const figures = await countEach([cpuOf(pids), watch.statements], async () => {
    await work();
    return { count, perSecond: count / secondsSince(startedMs) };
  });
  const { workflows, historyEvents, actions } = await readTemporalCost(client, sinceMs);
  return {
    ...figures,
    ...{ workflows: workflows / count, historyEvents: historyEvents / count },
    actions: actions / count,
  };
}
