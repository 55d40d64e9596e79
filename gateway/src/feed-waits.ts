import { clientBucket } from "@activity/runtime/client-bucket";
import { createFeedVersions } from "./feed-versions.ts";
import type { GatewayLimits } from "./limits.ts";
import type { Upstream } from "./upstream.ts";

/** A request that waits until its feed changes. */
export type FeedWait = {
  /**
   * Resolves with true once the feed has a later version than `version`. Resolves with false when the wait is over: its
   * time has passed, its client left, or the gateway drains.
   */
  changedAfter(version: bigint): Promise<boolean>;
  /** Resolves with true after `milliseconds`, or with false if the wait ends earlier. */
  pause(milliseconds: number): Promise<boolean>;
  /** Ends the wait, so that it no longer counts towards the limits. */
  end(): void;
};

/** The waiting requests. */
export type FeedWaits = {
  count(): number;
  /** Begins a wait. Returns `undefined` when the account or client is at its limit, or after `close`. */
  begin(request: {
    readonly accountId: string;
    readonly clientAddress: string;
    /** When the request came, by `performance.now()`. Its wait is counted from then. RFC 7240 §4.3 */
    readonly receivedMs: number;
    readonly seconds: number;
    readonly signal: AbortSignal;
  }): FeedWait | undefined;
  /** Ends all waits, and refuses new ones. */
  close(): void;
};

type Waiting = {
  readonly accountId: string;
  readonly client: string;
  readonly endSlot: number;
  isOver: boolean;
  /** Settles the request's promise if its feed has changed or its wait is over. */
  wake: () => void;
};

/**
 * Waits end together, at multiples of this time. Their clients then ask again together, and the core counts these
 * requests in one batch. A wait ends up to 500 ms early, because the preferred time is an upper bound (RFC 7240).
 */
const SLOT_MS = 500;

/** Creates the waits of a gateway. While any exist, a stream from the core is open. ADR 0052 */
export function createFeedWaits(
  upstream: Upstream,
  {
    waitingByAccount,
    waitingByClient,
  }: Pick<GatewayLimits, "waitingByAccount" | "waitingByClient">,
): FeedWaits {
  const byAccount = new Map<string, Set<Waiting>>();
  const byClient = new Map<string, number>();
  const bySlot = new Map<number, Set<Waiting>>();
  const versions = createFeedVersions(upstream, (accountId) => {
    for (const waiting of byAccount.get(accountId) ?? []) waiting.wake();
  });
  let count = 0;
  let hasClosed = false;
  let ticking: NodeJS.Timeout | undefined;

  /** At the beginning of each slot, ends the waits of that slot and of earlier ones. */
  function awaitSlot(): void {
    ticking = setTimeout(
      () => {
        awaitSlot();
        const now = Math.floor(performance.now() / SLOT_MS);
        for (const [slot, waits] of bySlot)
          if (slot <= now) for (const waiting of waits) finish(waiting);
      },
      Math.ceil(SLOT_MS - (performance.now() % SLOT_MS)),
    );
  }

  function finish(waiting: Waiting): void {
    if (waiting.isOver) return;
    waiting.isOver = true;
    count -= 1;
    remove(byAccount, waiting.accountId, waiting);
    remove(bySlot, waiting.endSlot, waiting);
    const left = (byClient.get(waiting.client) ?? 1) - 1;
    if (left === 0) byClient.delete(waiting.client);
    else byClient.set(waiting.client, left);
    if (count === 0) {
      clearTimeout(ticking);
      ticking = undefined;
      versions.release();
    }
    waiting.wake();
  }

  function waitOf(waiting: Waiting, signal: AbortSignal): FeedWait {
    const over = () => finish(waiting);
    signal.addEventListener("abort", over, { once: true });
    return {
      changedAfter(version) {
        return new Promise((resolve) => {
          waiting.wake = () => {
            if (waiting.isOver) resolve(false);
            else if ((versions.find(waiting.accountId) ?? 0n) > version) resolve(true);
          };
          waiting.wake();
        });
      },
      pause(milliseconds) {
        return new Promise((resolve) => {
          const timer = setTimeout(() => resolve(true), milliseconds);
          waiting.wake = () => {
            if (!waiting.isOver) return;
            clearTimeout(timer);
            resolve(false);
          };
          waiting.wake();
        });
      },
      end() {
        signal.removeEventListener("abort", over);
        finish(waiting);
      },
    };
  }

  return {
    count: () => count,
    begin({ accountId, clientAddress, receivedMs, seconds, signal }) {
      const client = clientBucket(clientAddress).toString("latin1");
      const isFull =
        (byAccount.get(accountId)?.size ?? 0) >= waitingByAccount ||
        (byClient.get(client) ?? 0) >= waitingByClient;
      if (hasClosed || isFull || signal.aborted) return undefined;
      const endSlot = Math.floor((receivedMs + seconds * 1_000) / SLOT_MS);
      const waiting: Waiting = { accountId, client, endSlot, isOver: false, wake: () => undefined };
      add(byAccount, accountId, waiting);
      add(bySlot, endSlot, waiting);
      byClient.set(client, (byClient.get(client) ?? 0) + 1);
      count += 1;
      versions.open();
      if (ticking === undefined) awaitSlot();
      // The request's first read may have taken as long as its wait. The wait is then over.
      if (endSlot <= Math.floor(performance.now() / SLOT_MS)) finish(waiting);
      return waitOf(waiting, signal);
    },
    close() {
      hasClosed = true;
      for (const waits of bySlot.values()) for (const waiting of waits) finish(waiting);
      versions.close();
    },
  };
}

function add<Key>(sets: Map<Key, Set<Waiting>>, key: Key, waiting: Waiting): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([waiting]));
  else set.add(waiting);
}

function remove<Key>(sets: Map<Key, Set<Waiting>>, key: Key, waiting: Waiting): void {
  const set = sets.get(key);
  set?.delete(waiting);
  if (set?.size === 0) sets.delete(key);
}
