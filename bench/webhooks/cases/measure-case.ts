import { randomBytes } from "node:crypto";
import type { Written } from "../../load/contribution-worker.ts";
import { quantile } from "../../measure/sample.ts";
import { sharedNowMs } from "../../measure/shared-clock.ts";
import { until } from "../../measure/until.ts";
import type { Usage } from "../../measure/watch.ts";
import type { RunningLayout } from "../layouts/layout.ts";
import type { Arrived } from "../receiver/arrivals.ts";
import type { WebhooksStack } from "../webhooks-stack.ts";
import type { WriteCase } from "./write-case.ts";

/** Who uses the processor. What writes and what receives are no part of any cost. */
export const ProcessName = {
  Product: "product",
  Database: "database",
  Temporal: "Temporal",
  Load: "load",
  Receiver: "receiver",
} as const;
export type ProcessName = (typeof ProcessName)[keyof typeof ProcessName];

/** One measurement of one case. */
export type CaseRun = {
  /** Events written, each of which is to arrive. */
  readonly count: number;
  /** From the first call's beginning to the last event's arrival. */
  readonly perSecond: number;
  /** From a call's beginning to the arrival of its event. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly lost: number;
  /** Arrivals beyond one of each event. */
  readonly again: number;
  /** Until the last delivery is recorded, which is later than it arrived. */
  readonly usage: Usage<ProcessName>;
};

/** An event is lost that has not come when none came for this long: its next attempt would be a minute later. */
const QUIET_MS = 15_000;
/** What comes a second time comes within this. */
const SETTLE_MS = 250;
const POLL_MS = 10;
const OUTBOX = "SELECT COUNT(*) FROM outbox_entry";

/** Measures one case from the first call until every delivery is recorded. */
export async function measureCase(
  stack: WebhooksStack,
  { corePort, pids }: RunningLayout,
  { writers, perSecond }: WriteCase,
  { accountIds, seconds }: { readonly accountIds: readonly string[]; readonly seconds: number },
): Promise<CaseRun> {
  const { receiver, load, watch, temporal, databasePid, layoutOptions } = stack;
  const { credential } = layoutOptions;
  const run = randomBytes(6).toString("hex");
  await receiver.expect(run);
  const watched = {
    [ProcessName.Product]: pids,
    [ProcessName.Database]: databasePid,
    [ProcessName.Temporal]: temporal.pid,
    [ProcessName.Load]: load.pid,
    [ProcessName.Receiver]: receiver.pid,
  };
  const { result: written, usage } = await watch.during(watched, async () => {
    const job = { port: corePort, credential, accountIds, run, writers, perSecond, seconds };
    const answer = await load.run(job);
    await receiver.arrived(answer.requests, QUIET_MS);
    const giveUpMs = sharedNowMs() + QUIET_MS;
    const isRecorded = async () => (await watch.number(OUTBOX)) === 0;
    await until(async () => (await isRecorded()) || sharedNowMs() > giveUpMs, POLL_MS);
    return answer;
  });
  const arrived = await receiver.arrived(Number.MAX_SAFE_INTEGER, SETTLE_MS);
  return { ...summarize(written, arrived), usage };
}

/** Brings together when calls began and when their events came. */
export function summarize(
  { beganMs }: Pick<Written, "beganMs">,
  { firstMs, again }: Arrived,
): Omit<CaseRun, "usage"> {
  const came = beganMs.flatMap((began, turn) => {
    const first = firstMs[turn];
    return typeof first === "number" ? [{ first, waitMs: first - began }] : [];
  });
  const waits = Float64Array.from(came, ({ waitMs }) => waitMs).sort();
  const lastMs = came.reduce((last, { first }) => Math.max(last, first), 0);
  const beginMs = beganMs.reduce((begin, began) => Math.min(begin, began), Infinity);
  return {
    count: beganMs.length,
    perSecond: (1000 * came.length) / (lastMs - beginMs),
    p50Ms: quantile(waits, 0.5),
    p99Ms: quantile(waits, 0.99),
    lost: beganMs.length - came.length,
    again,
  };
}
