import { WebhookEventKind } from "@activity/proto";
import mysql from "mysql2/promise";
import { newRun, startContributions } from "../load/contributions.ts";
import { donate, donationKeys, makeAccounts, makeTargets } from "../load/targets.ts";
import { countEach, type Figures, until } from "../measure/figures.ts";
import { cpuOf } from "../measure/process-usage.ts";
import { secondsSince, sharedNowMs } from "../measure/sample.ts";
import { startProductProcess } from "../product/start-product.ts";
import { startReader } from "../read/sides.ts";
import { startReceiver } from "../receiver/start-receiver.ts";
import type { Bench } from "../run/bench.ts";
import { keptSide } from "../run/rounds.ts";
import { startBenchTemporal } from "../stack/servers.ts";
import type { ShardedStore } from "./stores.ts";

/** How long a load reads and writes, and how many deliveries it makes. */
export type LoadSize = { readonly seconds: number; readonly backlog: number };

const [CONNECTIONS, WRITERS] = [32, 64];
/** Of so many accounts that are written to, one has an endpoint. */
const TARGETS_OF = 10;
/** Seldom enough that the databases do not notice. */
const POLL_MS = 100;
/** The stored number of DeliveryState.DELIVERED. */
const DELIVERED = "SELECT COUNT(*) AS deliveries FROM delivery WHERE state = 3";
/** Added to the task of an entry, it is one that nobody claims. */
const HELD = 100;

/** Starts what all sides share; returns what makes a side and its loads. */
export async function startLoads(bench: Bench, folder: string, accounts: number, paged: number) {
  const temporal = await startBenchTemporal(bench, folder);
  const receiver = await startReceiver(bench);
  const reader = startReader(bench);
  const writer = startContributions(bench);
  let dataUrl = "";

  /** Starts the product's process on a store; the first store's data is what every side has. */
  return async (name: string, store: ShardedStore) => {
    dataUrl ||= store.databaseUrl;
    const product = startProductProcess(bench, { store, temporal, receiver, folder });
    const { clients } = await product.collect();
    const [kind, count] = [WebhookEventKind.DONATION_CREATED, Math.ceil(accounts / TARGETS_OF)];
    const accountIds = await makeAccounts(clients, "written", accounts);
    const told = await makeTargets(clients, receiver.target, kind, "told", count);
    const pids = { product: product.pid, ...store.pids };
    const cpu = cpuOf(pids);

    /** Measures pages of which none is asked for twice. */
    async function reads({ seconds }: LoadSize): Promise<Figures> {
      const { gatewayPort: port } = await product.collect();
      const job = { side: name, workload: "cold-pages", port };
      const all = { ...job, databaseUrl: dataUrl, accounts: paged };
      await reader.jobs.prepare(all);
      return countEach([cpu], () => reader.jobs.read(all, CONNECTIONS, seconds));
    }

    /** Measures contributions that nobody is told of. */
    async function writes({ seconds }: LoadSize): Promise<Figures> {
      const { corePort: port } = await product.collect();
      const core = { port, credential: store.credential };
      const job = { ...core, run: newRun(), accountIds, workers: WRITERS, seconds };
      return countEach([cpu], async () => {
        const { count, perSecond } = await writer.jobs.write(job);
        return { count, perSecond };
      });
    }

    /**
     * Measures a backlog from the first claim until every delivery is recorded. It is held until the product runs: its
     * first attempts begin before it does, and its start is no part of what a delivery costs.
     */
    async function deliveries({ backlog: count }: LoadSize): Promise<Figures> {
      const shards = await Promise.all(store.shardUrls.map((uri) => mysql.createConnection(uri)));
      const onAll = (sql: string) =>
        Promise.all(shards.map((shard) => shard.query<mysql.RowDataPacket[]>(sql)));
      const delivered = async () =>
        (await onAll(DELIVERED)).reduce((sum, [[row]]) => sum + Number(row?.deliveries), 0);
      const before = await delivered();
      const keys = donationKeys(told, count, newRun());
      await donate((await product.collect()).clients, keys.slice(1));
      await onAll(`UPDATE outbox_entry SET task = task + ${HELD}`);
      await receiver.jobs.expect(200, "");
      const { clients } = await product.deliver();
      await onAll(`UPDATE outbox_entry SET task = task - ${HELD} WHERE task > ${HELD}`);
      const figures = await countEach([cpu], async () => {
        const startedMs = sharedNowMs();
        // The last one notifies those that claim.
        await donate(clients, keys.slice(0, 1));
        await receiver.jobs.arrived(count);
        await until(async () => (await delivered()) === before + count, POLL_MS);
        return { count, perSecond: count / secondsSince(startedMs) };
      });
      await product.rest();
      await Promise.all(shards.map((shard) => shard.end()));
      return figures;
    }

    return keptSide(name, pids, { loads: { reads, writes, deliveries } });
  };
}
