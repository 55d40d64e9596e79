import type { Log } from "@activity/runtime/log";
import { newId } from "../common/ids.ts";
import { DatabaseTimeoutError } from "../database/deadline.ts";
import { isConnectionLost } from "../database/outage.ts";
import { byAccount } from "./by-account.ts";
import type { AttemptContent, LeasedEntry, PastAttempt, QueuePosition } from "./claim-store.ts";
import type { DispatchStore } from "./dispatch-store.ts";
import { createEndedLeases, type EndedLeases } from "./ended-leases.ts";
import { type Queue, takeRoundRobin } from "./fair-share.ts";
import { MAX_LEASE_AGE_MS, type Outbox } from "./outbox.ts";
import { Task } from "./outbox-store.ts";
import type { Look } from "./poller-queue.ts";
import { type DeliveryKey, deliveryName, type RunKey } from "./run-key.ts";

/**
 * How many entries a search reads at once. The search continues after the last queue of a page, even if that queue has
 * more entries.
 */
const PAGE = 256;
/** A search that has found entries ends after this many pages or this time, so that they do not wait for all queues. */
const MAX_PAGES = 8;
const MAX_SEARCH_MS = 1_000;
/** A search that has found nothing ends after this time, because its caller waits for 40 seconds only. */
const MAX_FRUITLESS_MS = 10_000;
const START: QueuePosition = { accountNo: 0, endpointId: "" };
const NO_SEARCH = { end: START, throttled: new Set<string>() };

export type ClaimedAttempt = RunKey & AttemptContent & { readonly leaseId: string };
/** A leased run that continues with a retry. */
export type ClaimedRetry = RunKey & {
  readonly leaseId: string;
  readonly attempts: readonly PastAttempt[];
  readonly dueInMicros: number;
};

/** Claims outbox entries. Each claim starts where the previous claim of its task ended. */
export type Claims = Pick<EndedLeases, "noteOutage" | "noteWritten"> & {
  /** Claims first attempts. No endpoint gets more than `endpointLimit` attempts in flight. */
  attempts(limit: number, endpointLimit: number): Promise<Look<ClaimedAttempt>>;
  retries(limit: number): Promise<Look<ClaimedRetry>>;
};

/** Like a `Look`, but its entries are not leased yet. */
type Found = Omit<Look<DeliveryKey>, "entries"> & { readonly keys: readonly DeliveryKey[] };

/** The queues of a page. `cutId` is the endpoint of the last queue if that queue may have more entries. */
type QueuePage = { readonly queues: readonly Queue[]; readonly cutId: string | undefined };

type ListPage = (after: QueuePosition) => ReturnType<DispatchStore["listClaimable"]>;

export type ClaimParts = {
  readonly store: DispatchStore;
  readonly outbox: Outbox;
  readonly log: Log;
  /** Returns a number from 0 to 1, which chooses the account and endpoint that come first. */
  readonly random: () => number;
};

/** Creates claims. The first search of each task starts at the lowest account number. */
export function createClaims({ store, outbox, log, random }: ClaimParts): Claims {
  const { unheard } = outbox;
  const { nowMs } = outbox.timing;
  /** The last search of each task: where it ended, and the endpoints that it found at their limit. */
  const last = { [Task.Attempt]: NO_SEARCH, [Task.BeginRetries]: NO_SEARCH };
  const endedLeases = createEndedLeases(nowMs);
  const find = (task: Task, limit: number, endpointLimit: number): Promise<Found> =>
    endedLeases.search(task, (includeEnded) => search(task, limit, endpointLimit, includeEnded));

  return {
    async attempts(limit, endpointLimit) {
      const { keys, ...rest } = await find(Task.Attempt, limit, endpointLimit);
      const entries = await lease(Task.Attempt, keys, async (leaseId) => {
        const leased = inOrderOf(keys, await store.loadLeasedAttempts(keys, leaseId));
        endUnsendable(leased.filter(({ isRunning, content }) => !isRunning || !content));
        return leased.flatMap(({ isRunning, content, ...run }) =>
          isRunning && content ? [{ ...run, ...content, leaseId }] : [],
        );
      });
      return { ...rest, entries };
    },

    async retries(limit) {
      const { keys, ...rest } = await find(Task.BeginRetries, limit, Number.POSITIVE_INFINITY);
      const entries = await lease(Task.BeginRetries, keys, async (leaseId) => {
        const leased = inOrderOf(keys, await store.loadLeasedRetries(keys, leaseId));
        endUnsendable(leased.filter(({ isRunning }) => !isRunning));
        const runs = leased.filter(({ isRunning }) => isRunning);
        const past = runs.length > 0 ? await store.listAttemptsOfRuns(runs) : [];
        const attempts = Map.groupBy(past, deliveryName);
        return runs.map(({ isRunning: _, ...run }) => ({
          ...run,
          leaseId,
          attempts: attempts.get(deliveryName(run)) ?? [],
        }));
      });
      return { ...rest, entries };
    },

    noteOutage: endedLeases.noteOutage,
    noteWritten: endedLeases.noteWritten,
  };

  /** Leases entries and loads their data. Throws if this takes longer than `MAX_LEASE_AGE_MS`. */
  async function lease<Entry>(
    task: Task,
    keys: readonly DeliveryKey[],
    load: (leaseId: string) => Promise<readonly Entry[]>,
  ): Promise<readonly Entry[]> {
    if (keys.length === 0) return [];
    const leaseId = newId();
    const begunMs = nowMs();
    try {
      // Leases for half of the time, because the load needs the other half.
      const isLate = () => nowMs() - begunMs >= MAX_LEASE_AGE_MS / 2;
      const lease = (some: readonly DeliveryKey[]) => store.leaseEntries(task, some, leaseId);
      const refusal = await byAccount(keys, lease, isLate);
      if (refusal !== undefined) throw refusal;
      endedLeases.noteWritten();
      const entries = await load(leaseId);
      if (nowMs() - begunMs <= MAX_LEASE_AGE_MS) return entries;
      throw new DatabaseTimeoutError(`A claim took longer than ${MAX_LEASE_AGE_MS} ms.`);
    } catch (error) {
      unheard.set(leaseId, keys);
      // Notes the outage here, because searches do not notice a read-only database: they succeed.
      if (isConnectionLost(error)) endedLeases.noteOutage();
      throw error;
    }
  }

  /**
   * Ends leases that no poller received. Does not wait long for a shard that is away or refuses, because its leases end
   * by themselves.
   */
  async function releaseUnheard(): Promise<void> {
    const begunMs = nowMs();
    const isLate = () => nowMs() - begunMs >= MAX_LEASE_AGE_MS / 2;
    for (const [leaseId, keys] of unheard) {
      if (isLate()) return;
      await byAccount(keys, (some) => store.releaseEntries(some, leaseId), isLate);
      unheard.delete(leaseId);
    }
  }

  /** Searches until it has found `limit` entries, seen every queue or searched for long. */
  async function search(
    task: Task,
    limit: number,
    endpointLimit: number,
    includeEnded: boolean,
  ): Promise<Found> {
    await releaseUnheard();
    const begunMs = nowMs();
    const found: Queue[] = [];
    let [count, pages] = [0, 0];
    const throttled = new Set<string>();
    const cut = new Set<string>();
    const list = (after: QueuePosition) =>
      endedLeases.page(() => store.listClaimable(task, after, PAGE, includeEnded));
    for await (const { queues, cutId } of pagesFrom(list, last[task].end)) {
      if (cutId !== undefined) cut.add(cutId);
      const open = await limitQueues(task, queues, endpointLimit);
      addThrottled(throttled, queues, open);
      found.push(...open);
      count += countEntries(open);
      pages += 1;
      if (count < limit) {
        if (!isLong(count, pages, nowMs() - begunMs)) continue;
        // Keeps the endpoints that the last search found at their limit, because this search may not have reached their
        // queues.
        for (const endpointId of last[task].throttled) throttled.add(endpointId);
      }
      last[task] = { end: queues.at(-1) ?? START, throttled };
      return { keys: takeRoundRobin(found, limit, random), throttled, hasMore: count > 0 };
    }
    last[task] = { end: START, throttled };
    const hasMore = count > 0 && [...cut].some((endpointId) => !throttled.has(endpointId));
    return { keys: takeRoundRobin(found, limit, random), throttled, hasMore };
  }

  /** Yields each queue once, page by page: first the queues after `start`, then those up to it. */
  async function* pagesFrom(list: ListPage, start: QueuePosition): AsyncGenerator<QueuePage> {
    yield* pagesBetween(list, start, undefined);
    if (start !== START) yield* pagesBetween(list, START, start);
  }

  async function* pagesBetween(
    list: ListPage,
    after: QueuePosition,
    end: QueuePosition | undefined,
  ): AsyncGenerator<QueuePage> {
    let position: QueuePosition | undefined = after;
    while (position !== undefined) {
      const page = await list(position);
      const all = queuesOf(page);
      const queues = all.filter((queue) => end === undefined || !isAfter(queue, end));
      const isEnd = page.length < PAGE || queues.length < all.length;
      if (queues.length > 0) yield { queues, cutId: isEnd ? undefined : queues.at(-1)?.endpointId };
      position = isEnd ? undefined : queues.at(-1);
    }
  }

  /** Shortens each queue to its endpoint's capacity, and drops queues whose endpoint has none. */
  async function limitQueues(
    task: Task,
    queues: readonly Queue[],
    endpointLimit: number,
  ): Promise<Queue[]> {
    if (endpointLimit === Number.POSITIVE_INFINITY) return [...queues];
    const leased = await store.countLeased(task, queues);
    return queues.flatMap((queue) => {
      const capacity = endpointLimit - (leased.get(queue.endpointId) ?? 0);
      return capacity > 0 ? [{ ...queue, deliveryIds: queue.deliveryIds.slice(0, capacity) }] : [];
    });
  }

  /**
   * Removes entries that can never be sent, because nothing else removes them. No claim waits for this. The endpoints
   * then have capacity again. This function notifies the pollers itself, because no recorded attempt does so.
   */
  function endUnsendable(entries: readonly LeasedEntry[]): void {
    if (entries.length === 0) return;
    endRuns(entries).then(outbox.attempts.notify, (cause) =>
      log.warn("could not end runs that cannot be sent", { cause }),
    );
  }

  /**
   * Deletes the entries of runs, and cancels the runs that have not ended. If another transaction has locked the
   * delivery of a run to cancel, the entry stays leased and is claimed again later.
   */
  function endRuns(entries: readonly LeasedEntry[]): Promise<void> {
    return store.changeFree(entries, (locked) => {
      const free = new Set(locked.map(deliveryName));
      const canceled = entries.filter((entry) => entry.isRunning && free.has(deliveryName(entry)));
      const deleted = [...canceled, ...entries.filter(({ isRunning }) => !isRunning)];
      return { changes: { canceled, deleted }, result: undefined };
    });
  }
}

function queuesOf(page: readonly (QueuePosition & DeliveryKey)[]): Queue[] {
  const byEndpoint = Map.groupBy(page, ({ accountNo, endpointId }) => `${accountNo} ${endpointId}`);
  return [...byEndpoint.values()].flatMap((entries) => {
    const [first] = entries;
    if (first === undefined) return [];
    const { accountNo, endpointId } = first;
    return [{ accountNo, endpointId, deliveryIds: entries.map(({ deliveryId }) => deliveryId) }];
  });
}

/** Adds the endpoints whose queues were shortened or dropped. */
function addThrottled(to: Set<string>, queues: readonly Queue[], open: readonly Queue[]): void {
  const counts = new Map(open.map((queue) => [queue.endpointId, queue.deliveryIds.length]));
  for (const { endpointId, deliveryIds } of queues) {
    if ((counts.get(endpointId) ?? 0) < deliveryIds.length) to.add(endpointId);
  }
}

function countEntries(queues: readonly Queue[]): number {
  return queues.reduce((sum, { deliveryIds }) => sum + deliveryIds.length, 0);
}

/** Whether a search that has found `count` entries must end. */
function isLong(count: number, pages: number, searchedMs: number): boolean {
  if (count === 0) return searchedMs >= MAX_FRUITLESS_MS;
  return pages >= MAX_PAGES || searchedMs >= MAX_SEARCH_MS;
}

/** Whether a queue comes after a position in page order. */
function isAfter(queue: QueuePosition, position: QueuePosition): boolean {
  if (queue.accountNo !== position.accountNo) return queue.accountNo > position.accountNo;
  return queue.endpointId > position.endpointId;
}

/** Restores the round-robin order of `keys`, so that no account waits for all entries of another. */
function inOrderOf<Entry extends DeliveryKey>(
  keys: readonly DeliveryKey[],
  entries: readonly Entry[],
): Entry[] {
  const byName = new Map(entries.map((entry) => [deliveryName(entry), entry]));
  return keys.flatMap((key) => byName.get(deliveryName(key)) ?? []);
}
