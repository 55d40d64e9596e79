import { clientBucket } from "@activity/runtime/client-bucket";
import { createFeedVersions } from "./feed-versions.ts";
import type { GatewayLimits } from "./limits.ts";
import type { Upstream } from "./upstream.ts";

/** A request that is held until its feed changes. */
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

/** The held requests. */
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

type Held = {
  readonly accountId: string;
  readonly client: string;
  readonly endSlot: number;
  isOver: boolean;
  /** Settles the request's promise if its feed has changed or its wait is over. */
  wake: () => void;
};

/**
 * Waits end together, at multiples of this time. Their clients then ask again together, and the core counts these
 * requests in one batch. A wait ends up to 500 ms early, because RFC 7240 makes it an upper bound.
 */
const SLOT_MS = 500;

/** Creates the waits of a gateway. While any exist, a stream from the core is open. ADR 0052 */
export function createFeedWaits(
  upstream: Upstream,
  { heldByAccount, heldByClient }: Pick<GatewayLimits, "heldByAccount" | "heldByClient">,
): FeedWaits {
  const byAccount = new Map<string, Set<Held>>();
  const byClient = new Map<string, number>();
  const bySlot = new Map<number, Set<Held>>();
  const versions = createFeedVersions(upstream, (accountId) => {
    for (const held of byAccount.get(accountId) ?? []) held.wake();
  });
  let count = 0;
  let hasClosed = false;
  let ticking: NodeJS.Timeout | undefined;

  /** Ends the waits of each slot when it begins. */
  function awaitSlot(): void {
    ticking = setTimeout(
      () => {
        awaitSlot();
        const now = Math.floor(performance.now() / SLOT_MS);
        for (const [slot, waits] of bySlot) if (slot <= now) for (const held of waits) finish(held);
      },
      Math.ceil(SLOT_MS - (performance.now() % SLOT_MS)),
    );
  }

  function finish(held: Held): void {
    if (held.isOver) return;
    held.isOver = true;
    count -= 1;
    remove(byAccount, held.accountId, held);
    remove(bySlot, held.endSlot, held);
    const left = (byClient.get(held.client) ?? 1) - 1;
    if (left === 0) byClient.delete(held.client);
    else byClient.set(held.client, left);
    if (count === 0) {
      clearTimeout(ticking);
      ticking = undefined;
      versions.release();
    }
    held.wake();
  }

  function waitOf(held: Held, signal: AbortSignal): FeedWait {
    const over = () => finish(held);
    signal.addEventListener("abort", over, { once: true });
    return {
      changedAfter(version) {
        return new Promise((resolve) => {
          held.wake = () => {
            if (held.isOver) resolve(false);
            else if ((versions.find(held.accountId) ?? 0n) > version) resolve(true);
          };
          held.wake();
        });
      },
      pause(milliseconds) {
        return new Promise((resolve) => {
          const timer = setTimeout(() => resolve(true), milliseconds);
          held.wake = () => {
            if (!held.isOver) return;
            clearTimeout(timer);
            resolve(false);
          };
          held.wake();
        });
      },
      end() {
        signal.removeEventListener("abort", over);
        finish(held);
      },
    };
  }

  return {
    count: () => count,
    begin({ accountId, clientAddress, receivedMs, seconds, signal }) {
      const client = clientBucket(clientAddress).toString("latin1");
      const isFull =
        (byAccount.get(accountId)?.size ?? 0) >= heldByAccount ||
        (byClient.get(client) ?? 0) >= heldByClient;
      if (hasClosed || isFull || signal.aborted) return undefined;
      const endSlot = Math.floor((receivedMs + seconds * 1_000) / SLOT_MS);
      const held: Held = { accountId, client, endSlot, isOver: false, wake: () => undefined };
      add(byAccount, accountId, held);
      add(bySlot, endSlot, held);
      byClient.set(client, (byClient.get(client) ?? 0) + 1);
      count += 1;
      versions.open();
      if (ticking === undefined) awaitSlot();
      // Its first read took as long as its wait.
      if (endSlot <= Math.floor(performance.now() / SLOT_MS)) finish(held);
      return waitOf(held, signal);
    },
    close() {
      hasClosed = true;
      for (const waits of bySlot.values()) for (const held of waits) finish(held);
      versions.close();
    },
  };
}

function add<Key>(sets: Map<Key, Set<Held>>, key: Key, held: Held): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([held]));
  else set.add(held);
}

function remove<Key>(sets: Map<Key, Set<Held>>, key: Key, held: Held): void {
  const set = sets.get(key);
  set?.delete(held);
  if (set?.size === 0) sets.delete(key);
}
