import type { WebhookEventKind } from "@activity/proto";
import { connectTemporal, startFloor } from "../floor/floor.ts";
import { makeTargets } from "../load/targets.ts";
import { startWatch } from "../measure/watch.ts";
import { startProductProcess } from "../product/start-product.ts";
import { startReceiver } from "../receiver/start-receiver.ts";
import type { Bench } from "../run/bench.ts";
import { startBenchTemporal, startStore } from "./servers.ts";

/** The servers of a bench of deliveries. The product does not run yet. */
export type DeliveryStack = Awaited<ReturnType<typeof startDeliveryStack>>;

/** Starts a database, a Temporal, a receiver, and processes for the product and the floor. */
export async function startDeliveryStack(bench: Bench, name: string, profileFolder?: string) {
  const store = await startStore(bench, name);
  const temporal = await startBenchTemporal(bench, store.folder);
  const receiver = await startReceiver(bench);
  const ground = { store, temporal, receiver, profileFolder };
  return {
    ...{ store, temporal, receiver, ground, product: startProductProcess(bench, ground) },
    floor: startFloor(bench),
    client: await connectTemporal(bench, temporal.address),
    watch: startWatch(bench, store.databaseUrl),
    on: `${store.version}, Temporal on SQLite (write-ahead log, synced)`,
  };
}

/** Creates one account, then many, each with an endpoint for events of a kind. */
export async function makeOneAndMany(
  { product, receiver }: DeliveryStack,
  kind: WebhookEventKind,
  count: number,
) {
  const { clients } = await product.collect();
  const one = await makeTargets(clients, receiver.target, kind, "bench_one", 1);
  const many = await makeTargets(clients, receiver.target, kind, "bench", count);
  await product.rest();
  return { one, many };
}
