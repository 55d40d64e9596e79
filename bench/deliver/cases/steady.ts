import { setTimeout as wait } from "node:timers/promises";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { Clients } from "../../../dev-stack/src/demo.ts";
import { quantile } from "../../measure/sample.ts";
import { concurrently, type Target } from "../../stack/targets.ts";
import type { BenchStack } from "../bench-stack.ts";
import { type CaseRun, measureCase } from "./case-run.ts";

/** A steady stream, how long its events took to arrive, and the same donations when nobody delivers. */
export type SteadyRun = CaseRun & {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly written: CaseRun;
};

const PER_SECOND = 20;
/** What is not counted: the product has just started, and its first connections are not made yet. */
const WARM_UP_SECONDS = 2;
const WARM_UP = WARM_UP_SECONDS * PER_SECOND;
/** Ends what nobody was to deliver. */
const EMPTY_OUTBOX = "DELETE FROM outbox_entry";
const END_PENDING = "UPDATE delivery SET state = 5 WHERE state = 1";

/**
 * Measures the way of donations that are paid one after the other at a steady rate. It begins at the event's
 * own time, which the database's clock gives it inside the transaction, so the commit is part of it.
 */
export async function measureSteady(
  stack: BenchStack,
  target: Target,
  seconds: number,
): Promise<SteadyRun> {
  const { product, receiver, watch } = stack;
  const count = seconds * PER_SECOND;
  const writing = await prepare(await product.collect(), target, count);
  const written = await measureCase(stack, count, () => writing.pay());
  await watch.change(EMPTY_OUTBOX, []);
  await watch.change(END_PENDING, []);

  receiver.reset(200);
  const { pay } = await prepare(await product.deliver(), target, count);
  await receiver.arrived(WARM_UP);
  const since = await watch.now();
  const clockMs = wallClockOffsetMs();
  const run = await measureCase(stack, count, async () => {
    const startedMs = performance.now();
    await pay();
    await receiver.arrived(count + WARM_UP);
    return (performance.now() - startedMs) / 1000;
  });
  const events = await watch.rows<{ id: string; created_at: number }>(
    "SELECT id, created_at FROM webhook_event WHERE created_at > ?",
    [since],
  );
  const waits = events
    .map(
      ({ id, created_at }) => (receiver.arrivals.get(id) ?? Infinity) + clockMs - created_at / 1000,
    )
    .sort((one, other) => one - other);
  await product.stop();
  return { ...run, p50Ms: quantile(waits, 0.5), p99Ms: quantile(waits, 0.99), written };
}

/** Creates donations, and pays some to warm up; returns what pays the others, and answers in how many seconds. */
async function prepare({ donations }: Clients, { accountId }: Target, count: number) {
  const prefix = `steady-${Date.now()}-`;
  const externalIds = Array.from({ length: WARM_UP + count }, (_, turn) => prefix + turn);
  await concurrently(externalIds, (externalId) =>
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
    return (performance.now() - startedMs) / 1000;
  };
  await pay(externalIds.slice(0, WARM_UP));
  return { pay: () => pay(externalIds.slice(WARM_UP)) };
}

/** Returns what `performance`'s clock lacks to the wall clock now, read at the turn of a millisecond. */
function wallClockOffsetMs(): number {
  const beganMs = Date.now();
  let nowMs = beganMs;
  while (nowMs === beganMs) nowMs = Date.now();
  return nowMs - performance.now();
}
