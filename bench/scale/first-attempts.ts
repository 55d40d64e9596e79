import { takeRoundRobin } from "../../server/src/dispatch/fair-share.ts";
import { quantile } from "../measure/sample.ts";

/** As server/src/dispatch/claim.ts and workflows/src/dispatcher/first-attempts.ts have them. */
const [PAGE, CLAIM, ENDPOINT_LIMIT] = [256, 64, 64];
/** 512 attempts a second: less than one machine of two cores makes while it is written to. */
const CLAIMS_A_SECOND = 8;

/** Accounts that have `backlog` events at one moment, all together, and what others write beside them, one each. */
export type Burst = {
  readonly hotAccounts: number;
  readonly backlog: number;
  readonly othersASecond: number;
};
/** One account with one endpoint: its place in the order of the outbox, and how much of it was not taken yet. */
type Waiting = { readonly accountNo: number; readonly bornAt: number; left: number };

/** Returns how long a backlog would delay the next event if events were delivered in the order of their writing. */
export function delayInOrder({ backlog }: Burst): number {
  return backlog / (CLAIM * CLAIMS_A_SECOND);
}

/**
 * Delivers a burst, and what others write until it is over, as claims of the outbox take them; returns how many seconds
 * others' first attempts wait.
 */
export function delaysOfOthers(
  { hotAccounts, backlog, othersASecond }: Burst,
  random: () => number,
) {
  const hot: Waiting[] = Array.from({ length: hotAccounts }, (_, place) => {
    const accountNo = (place + 0.5) / hotAccounts;
    return { accountNo, bornAt: Number.NaN, left: backlog / hotAccounts };
  });
  let waiting = hot;
  let after = 0;
  const waits: number[] = [];
  for (let claim = 1; hot.some(({ left }) => left > 0); claim++) {
    const now = claim / CLAIMS_A_SECOND;
    const come = Array.from({ length: Math.round(othersASecond / CLAIMS_A_SECOND) }, () => ({
      ...{ accountNo: random(), bornAt: now - random() / CLAIMS_A_SECOND, left: 1 },
    }));
    waiting = [...waiting.filter(({ left }) => left > 0), ...come];
    const found = findQueues(waiting, after);
    after = found.end;
    const queues = found.queues.map(({ left }, accountNo) => {
      const deliveryIds = new Array<string>(Math.min(left, ENDPOINT_LIMIT)).fill("");
      return { accountNo, endpointId: "", deliveryIds };
    });
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
function findQueues(waiting: readonly Waiting[], after: number) {
  const sorted = waiting.toSorted((one, other) => one.accountNo - other.accountNo);
  const start = Math.max(
    0,
    sorted.findIndex(({ accountNo }) => accountNo > after),
  );
  const queues: Waiting[] = [];
  let [found, rows] = [0, 0];
  for (const queue of [...sorted.slice(start), ...sorted.slice(0, start)]) {
    queues.push(queue);
    found += Math.min(queue.left, ENDPOINT_LIMIT);
    rows += queue.left;
    if (rows < PAGE) continue;
    if (found >= CLAIM) return { queues, end: queue.accountNo };
    rows = 0;
  }
  return { queues, end: 0 };
}
