import { setTimeout as wait } from "node:timers/promises";
import type { Clients } from "../../tools/demo/demo-account.ts";
import { newRun } from "../load/contributions.ts";
import { createDonation, donationKeys, eachConcurrently } from "../load/targets.ts";
import type { Figures } from "../measure/figures.ts";
import { readMemory } from "../measure/process-usage.ts";
import { quantiles, sharedNowMs } from "../measure/sample.ts";
import { measureCase, type Stack } from "./stack.ts";

const PER_SECOND = 20;
/** How many events warm up and are not counted. The product has just started and has no connections yet. */
const WARM_UP = 2 * PER_SECOND;
const EVENTS = "SELECT event_id AS id, created_at FROM delivery WHERE created_at > ?";

/** Measures a steady stream of paid donations while nothing delivers. */
export async function measureWriting(stack: Stack, seconds: number): Promise<Figures> {
  const { product, watch, accountIds } = stack;
  const count = seconds * PER_SECOND;
  const { clients } = await product.collect();
  const figures = await measureCase(stack, count, await prepare(clients, accountIds.one, count));
  // Removes these events from the outbox. Otherwise the next measurement would deliver them.
  await watch.rows("DELETE FROM outbox_entry");
  await watch.rows("UPDATE delivery SET state = 5 WHERE state = 1");
  return figures;
}

/**
 * Measures how long the events of a steady stream take to reach the receiver, and the memory at the end. Each time
 * begins at `created_at`. The database sets `created_at` within the transaction, so the time includes the commit.
 */
export async function measureSteady(stack: Stack, seconds: number): Promise<Figures> {
  const { product, receiver, watch, accountIds, temporal } = stack;
  const count = seconds * PER_SECOND;
  await receiver.jobs.expect(200, "");
  const { clients } = await product.deliver();
  const pay = await prepare(clients, accountIds.one, count);
  await receiver.jobs.arrived(WARM_UP);
  const since = await watch.now();
  const clockMs = wallClockOffsetMs();
  const figures = await measureCase(stack, count, async () => {
    await pay();
    await receiver.jobs.arrived(count + WARM_UP);
  });
  const { firstMs } = await receiver.jobs.tell();
  const events = await watch.rows<{ id: string; created_at: number }>(EVENTS, [since]);
  const waits = events.map(({ id, created_at: at }) => {
    return (firstMs[id] ?? Infinity) + clockMs - at / 1000;
  });
  await product.rest();
  const [own, its] = [await readMemory(product.pid), await readMemory(temporal.pid)];
  return {
    ...{ ...figures, ...quantiles(waits), "product MB": own.nowMb, "product peak MB": own.peakMb },
    ...{ "Temporal MB": its.nowMb, "Temporal peak MB": its.peakMb },
  };
}

/** Creates donations and pays some to warm up. Returns a function that pays the others at a steady rate. */
async function prepare(clients: Clients, accountIds: readonly string[], count: number) {
  const keys = donationKeys(accountIds, WARM_UP + count, `steady-${newRun()}`);
  await eachConcurrently(keys, (key) => createDonation(clients, key));
  const pay = async (some: typeof keys) => {
    const paying = some.map(async (key, turn) => {
      await wait((1000 * turn) / PER_SECOND);
      await clients.donations.payDonation(key);
    });
    await Promise.all(paying);
  };
  await pay(keys.slice(0, WARM_UP));
  return () => pay(keys.slice(WARM_UP));
}

/** Returns the difference between the wall clock and the shared clock, read when the millisecond changes. */
function wallClockOffsetMs(): number {
  const beganMs = Date.now();
  let nowMs = beganMs;
  while (nowMs === beganMs) nowMs = Date.now();
  return nowMs - sharedNowMs();
}
