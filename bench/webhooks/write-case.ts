import type { ContributionJobs, Contributions } from "../load/contribution-worker.ts";
import { newRun } from "../load/contributions.ts";
import { countEach, type Figures, until } from "../measure/figures.ts";
import { cpuOf, type Pids } from "../measure/process-usage.ts";
import { quantiles, sharedNowMs } from "../measure/sample.ts";
import type { Arrived } from "../receiver/arrivals.ts";
import type { DeliveryStack } from "../stack/delivery-stack.ts";
import type { Worker } from "../stack/jobs.ts";

/** The writes of one measurement and their rate. */
export type WriteCase = {
  readonly name: string;
  readonly workers: number;
  /** Whether all write to one account, or to many in turn. */
  readonly to: "one" | "many";
  /** Writes per second. Without it, each writer sends its next write after an answer. */
  readonly perSecond?: number;
  /** Whether there is a backlog of a hanging endpoint. */
  readonly besideHanging?: true;
  /** Whether the measurement takes longer: at least as long as an attempt at a hanging endpoint. */
  readonly long?: true;
};

/** The number of writers in the cases that have goals. */
export const MANY_WRITERS = 64;
/** The pace of the steady case. It has so many workers that no call waits for a free one. */
const STEADY = { workers: 16, perSecond: 20 };
/** A missing event counts as lost if no event arrives for this long, which is less than the minute before a retry. */
const QUIET_MS = 15_000;
/** How long the bench waits for repeated events. */
const SETTLE_MS = 250;
const POLL_MS = 10;
const OUTBOX = "SELECT COUNT(*) FROM outbox_entry WHERE endpoint_id <> ?";

/** Writers without a backlog. They are the reference for writers with one. */
export const WITHOUT_BACKLOG = {
  ...{ name: `${MANY_WRITERS}-many`, workers: MANY_WRITERS, to: "many", long: true },
} as const satisfies WriteCase;

/** All cases, in the order of a round. Compared cases are adjacent. */
export const WRITE_CASES: readonly WriteCase[] = [
  ...[1, 8, MANY_WRITERS].map((workers) => ({
    name: `${workers}-one`,
    workers,
    to: "one" as const,
  })),
  { name: "steady", to: "one", long: true, ...STEADY },
  ...[1, 8].map((workers) => ({ name: `${workers}-many`, workers, to: "many" as const })),
  WITHOUT_BACKLOG,
  { ...WITHOUT_BACKLOG, name: "beside-hanging", besideHanging: true },
];

/** Measures one case from the first call until every delivery is recorded. */
export async function measureCase(
  { load, receiver, watch }: DeliveryStack & { readonly load: Worker<ContributionJobs> },
  pids: Pids,
  contributions: Omit<Contributions, "run">,
  hangingId: string,
): Promise<Figures> {
  const run = newRun();
  await receiver.jobs.expect(200, run);
  const { beganMs, ...used } = await countEach([cpuOf(pids)], async () => {
    const { beganMs, count } = await load.jobs.write({ ...contributions, run });
    await receiver.jobs.arrived(count, QUIET_MS);
    const giveUpMs = sharedNowMs() + QUIET_MS;
    const isRecorded = async () => (await watch.number(OUTBOX, [hangingId])) === 0;
    await until(async () => (await isRecorded()) || sharedNowMs() > giveUpMs, POLL_MS);
    return { beganMs, count };
  });
  await receiver.jobs.arrived(Number.MAX_SAFE_INTEGER, SETTLE_MS);
  return { ...used, ...summarize(run, beganMs, await receiver.jobs.tell()) };
}

/** Combines the times of the calls with the arrivals of their events. */
export function summarize(run: string, beganMs: readonly number[], { firstMs, again }: Arrived) {
  const came = beganMs.flatMap((began, turn) => {
    const first = firstMs[`${run}${turn}`];
    return first === undefined ? [] : [{ first, waitMs: first - began }];
  });
  const lastMs = came.reduce((last, { first }) => Math.max(last, first), 0);
  const beginMs = beganMs.reduce((begin, began) => Math.min(begin, began), Infinity);
  return {
    perSecond: (1000 * came.length) / (lastMs - beginMs),
    ...quantiles(came.map(({ waitMs }) => waitMs)),
    lost: beganMs.length - came.length,
    again,
  };
}
