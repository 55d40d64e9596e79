import { WebhookEventKind } from "@activity/proto";
import mysql from "mysql2/promise";
import { newRun, startContributions } from "../load/contributions.ts";
import { donate, donationKeys, makeAccounts, makeTargets } from "../load/targets.ts";
import { countEach, type Figures, until } from "../measure/figures.ts";
import { cpuOf } from "../measure/process-usage.ts";
import { secondsSince, sharedNowMs } from "../measure/sample.ts";
import { type ProductProcess, startProductProcess } from "../product/start-product.ts";
import { startReader } from "../read/sides.ts";
import { startReceiver } from "../receiver/start-receiver.ts";
import type { Bench } from "../run/bench.ts";
import { keptSide, type Side } from "../run/rounds.ts";
import { startBenchTemporal } from "../stack/servers.ts";
import type { ShardedStore } from "./stores.ts";

/** The product on one store, and who is written to there. */
export type ShardSide = Side & {
  readonly store: ShardedStore;
  readonly product: ProductProcess;
  readonly written: readonly string[];
  /** Those that have an endpoint. */
  readonly told: readonly string[];
};
/** How long a load reads and writes, and how many deliveries it makes. */
export type LoadSize = { readonly seconds: number; readonly backlog: number };
type Load = (side: ShardSide, size: LoadSize) => Promise<Figures>;

const CONNECTIONS = 32;
const WRITERS = 64;
const TARGETS_OF = 10;
/** Seldom enough that the databases do not notice. */
const POLL_MS = 100;
/** The stored number of DeliveryState.DELIVERED. */
const DELIVERED = "SELECT COUNT(*) AS deliveries FROM delivery WHERE state = 3";
/** Added to the task of an entry, it is one that nobody claims. */
const HELD = 100;

/** Starts what all sides share; returns what makes a side, and the loads by name, in the order of a round. */
export async function startLoads(
  bench: Bench,
  folder: string,
  accounts: number,
  loadAccounts: number,
) {
  const temporal = await startBenchTemporal(bench, folder);
  const receiver = await startReceiver(bench);
  const reader = startReader(bench);
  const writer = startContributions(bench);
  let dataUrl = "";

  /** Starts the product's process on a store; the first store's data is what every side has. */
  async function startSide(name: string, store: ShardedStore): Promise<ShardSide> {
    dataUrl ||= store.databaseUrl;
    const product = startProductProcess(bench, { store, temporal, receiver, folder });
    const { clients } = await product.collect();
    const kind = WebhookEventKind.DONATION_CREATED;
    const targets = Math.ceil(accounts / TARGETS_OF);
    const written = await makeAccounts(clients, "written", accounts);
    const told = await makeTargets(clients, receiver.target, kind, "told", targets);
    const pids = { product: product.pid, ...store.pids };
    return keptSide(name, pids, { store, product, written, told });
  }

  /** Measures pages of which none is asked for twice. */
  const reads: Load = async ({ name, product, pids }, { seconds }) => {
    const { gatewayPort: port } = await product.collect();
    const job = { side: name, workload: "cold-pages", port, databaseUrl: dataUrl };
    const all = { ...job, accounts: loadAccounts };
    await reader.jobs.prepare(all);
    return countEach([cpuOf(pids)], () => reader.jobs.read(all, CONNECTIONS, seconds));
  };

  /** Measures contributions that nobody is told of. */
  const writes: Load = async ({ store, product, pids, written: accountIds }, { seconds }) => {
    const { corePort: port } = await product.collect();
    const job = { run: newRun(), accountIds, workers: WRITERS, seconds, port };
    const { credential } = store;
    return countEach([cpuOf(pids)], async () => {
      const { count, perSecond } = await writer.jobs.write({ ...job, credential });
      return { count, perSecond };
    });
  };

  /**
   * Measures a backlog from the first claim until every delivery is recorded. It is held until the product runs: its
   * first attempts begin before it does, and its start is no part of what a delivery costs.
   */
  const deliveries: Load = async ({ store, product, pids, told }, { backlog: count }) => {
    const shards = await Promise.all(store.shardUrls.map((uri) => mysql.createConnection(uri)));
    const onAll = (sql: string) =>
      Promise.all(shards.map((shard) => shard.query<mysql.RowDataPacket[]>(sql)));
    const delivered = async () =>
      (await onAll(DELIVERED)).reduce((sum, [[row]]) => sum + Number(row?.deliveries), 0);
    const before = await delivered();
    const [last, ...keys] = donationKeys(told, count, newRun());
    await donate((await product.collect()).clients, keys);
    await onAll(`UPDATE outbox_entry SET task = task + ${HELD}`);
    await receiver.jobs.expect(200, "");
    const { clients } = await product.deliver();
    await onAll(`UPDATE outbox_entry SET task = task - ${HELD} WHERE task > ${HELD}`);
    const figures = await countEach([cpuOf(pids)], async () => {
      const startedMs = sharedNowMs();
      // The last one notifies those that claim.
      await donate(clients, last ? [last] : []);
      await receiver.jobs.arrived(count);
      await until(async () => (await delivered()) === before + count, POLL_MS);
      return { count, perSecond: count / secondsSince(startedMs) };
    });
    await product.rest();
    await Promise.all(shards.map((shard) => shard.end()));
    return figures;
  };

  return { startSide, loads: { reads, writes, deliveries } };
}
