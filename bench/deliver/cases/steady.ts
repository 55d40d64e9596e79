import { setTimeout as wait } from "node:timers/promises";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { quantile } from "../../measure/sample.ts";
import type { BenchStack } from "../bench-stack.ts";
import { inLanes, type Target } from "../workload.ts";
import { type CaseRun, measureCase } from "./case-run.ts";

/** A steady stream, and how long its events took to arrive. */
export type SteadyRun = CaseRun & { readonly p50Ms: number; readonly p99Ms: number };

const PER_SECOND = 20;
/** What is not counted: the product has just started, and its first connections are not made yet. */
const WARM_UP_SECONDS = 2;

/**
 * Measures the way of donations that are paid one after the other at a steady rate. It begins at the event's
 * own time, which the database's clock gives it inside the transaction, so the commit is part of it.
 */
export async function measureSteady(
  stack: BenchStack,
  { accountId }: Target,
  seconds: number,
): Promise<SteadyRun> {
  const { product, receiver, watch } = stack;
  receiver.reset(200);
  const { donations } = await product.deliver();
  const prefix = `steady-${Date.now()}-`;
  const count = (WARM_UP_SECONDS + seconds) * PER_SECOND;
  const externalIds = Array.from({ length: count }, (_, turn) => prefix + turn);
  await inLanes(externalIds, (externalId) =>
    donations.createDonation({
      ...{ accountId, externalId, amountCents: 100n, currency: "eur" },
      donatedAt: timestampNow(),
    }),
  );
  const pay = async (some: readonly string[]) => {
    const startedMs = performance.now();
    const paying = some.map(async (externalId, turn) => {
      await wait((1000 * turn) / PER_SECOND);
      await donations.payDonation({ accountId, externalId });
    });
    await Promise.all(paying);
    return startedMs;
  };
  const warmUp = WARM_UP_SECONDS * PER_SECOND;
  await pay(externalIds.slice(0, warmUp));
  await receiver.arrived(warmUp);
  const lastNo = await watch.number("SELECT COALESCE(MAX(event_no), 0) FROM webhook_event");
  const clockMs = wallClockOffsetMs();
  const run = await measureCase(stack, count - warmUp, async () => {
    const startedMs = await pay(externalIds.slice(warmUp));
    await receiver.arrived(count);
    return (performance.now() - startedMs) / 1000;
  });
  const events = await watch.rows<{ id: string; created_at: number }>(
    "SELECT id, created_at FROM webhook_event WHERE event_no > ?",
    [lastNo],
  );
  const waits = events
    .map(
      ({ id, created_at }) => (receiver.arrivals.get(id) ?? Infinity) + clockMs - created_at / 1000,
    )
    .sort((one, other) => one - other);
  await product.stop();
  return { ...run, p50Ms: quantile(waits, 0.5), p99Ms: quantile(waits, 0.99) };
}

/** Returns what `performance`'s clock lacks to the wall clock now, read at the turn of a millisecond. */
function wallClockOffsetMs(): number {
  const beganMs = Date.now();
  let nowMs = beganMs;
  while (nowMs === beganMs) nowMs = Date.now();
  return nowMs - performance.now();
}
