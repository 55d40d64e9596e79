import { takeRoundRobin } from "../../server/src/dispatch/fair-share.ts";
import { quantile } from "../measure/sample.ts";

/** As server/src/dispatch/claim.ts and workflows/src/dispatcher/first-attempts.ts have them. */
const PAGE = 256;
const CLAIM = 64;
const ENDPOINT_LIMIT = 64;
/** 512 attempts a second: less than one machine of two cores makes while it is written to. */
const CLAIMS_A_SECOND = 8;

/** Accounts that have many events at one moment, and what others write beside them. */
export type Burst = {
  readonly hotAccounts: number;
  /** Events of all hot accounts together. */
  readonly backlog: number;
  /** Events of others, each of another account. */
  readonly othersASecond: number;
};

/** How long others' first attempts wait, in seconds. */
export type Delays = { readonly p50: number; readonly p99: number; readonly longest: number };

/** One account with one endpoint: its place in the order of the outbox, and how much of it was taken. */
type Waiting = { readonly accountNo: number; readonly bornAt: number; left: number };
type Found = { readonly queues: readonly Waiting[]; readonly end: number };

/** Returns how long a backlog would delay the next event if events were delivered in the order of their writing. */
export function delayInOrder({ backlog }: Burst): number {
  return backlog / (CLAIM * CLAIMS_A_SECOND);
}

/** Delivers a burst, and what others write until it is over, as claims of the outbox take them. */
export function delaysOfOthers(burst: Burst, random: () => number): Delays {
  const hot = Array.from({ length: burst.hotAccounts }, (_, place) => ({
    accountNo: (place + 0.5) / burst.hotAccounts,
    bornAt: Number.NaN,
    left: burst.backlog / burst.hotAccounts,
  }));
  let waiting: Waiting[] = hot;
  let after = 0;
  const waits: number[] = [];
  for (let claim = 1; hot.some(({ left }) => left > 0); claim++) {
    const now = claim / CLAIMS_A_SECOND;
    const come = Array.from({ length: Math.round(burst.othersASecond / CLAIMS_A_SECOND) }, () => ({
      accountNo: random(),
      bornAt: now - random() / CLAIMS_A_SECOND,
      left: 1,
    }));
    waiting = [...waiting.filter(({ left }) => left > 0), ...come];
    const found = findQueues(waiting, after);
    after = found.end;
    const queues = found.queues.map((queue, place) => ({
      accountNo: place,
      endpointId: "",
      deliveryIds: Array.from({ length: Math.min(queue.left, ENDPOINT_LIMIT) }, () => ""),
    }));
    for (const { accountNo: place } of takeRoundRobin(queues, CLAIM, random)) {
      const queue = found.queues[place];
      if (queue === undefined) continue;
      queue.left -= 1;
      if (queue.bornAt >= 0) waits.push(now - queue.bornAt);
    }
  }
  const sorted = Float64Array.from(waits).sort();
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), longest: quantile(sorted, 1) };
}

/**
 * Finds queues behind a place as a claim does: page by page, once around, until there is enough. A queue that goes
 * beyond its page is left behind with it.
 */
function findQueues(waiting: readonly Waiting[], after: number): Found {
  const sorted = waiting.toSorted((one, other) => one.accountNo - other.accountNo);
  const start = sorted.findIndex(({ accountNo }) => accountNo > after);
  const order = start <= 0 ? sorted : [...sorted.slice(start), ...sorted.slice(0, start)];
  const queues: Waiting[] = [];
  let [found, rows] = [0, 0];
  for (const queue of order) {
    queues.push(queue);
    found += Math.min(queue.left, ENDPOINT_LIMIT);
    rows += queue.left;
    if (rows < PAGE) continue;
    if (found >= CLAIM) return { queues, end: queue.accountNo };
    rows = 0;
  }
  return { queues, end: 0 };
}
