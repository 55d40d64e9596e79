import { setTimeout as wait } from "node:timers/promises";
import type { Claim } from "./claim-deliveries.ts";
import type { OutboxEntry } from "./claim-store.ts";
import type { OutboxSignal } from "./outbox-signal.ts";

/** When something is held back, room that comes free in another process is found after so long. */
const LOOK_AGAIN_MS = 250;
/** And room that comes free in this one after so long, so that what ends together is counted together. */
const GATHER_MS = 20;

/** What may give a claim that waits something to find. */
export type ClaimSignals = {
  /** Something was committed to the outbox. */
  readonly outbox: OutboxSignal;
  /** An attempt ended. */
  readonly room: OutboxSignal;
};

/**
 * Claims, and while there is nothing to claim looks again when there may be, until so long has passed or
 * the caller is gone. Without a wait it looks once. Of all who wait one is woken, so it wakes the next when
 * it goes and there may be more than it found.
 */
export async function claimWithin(
  claim: (limit: number) => Promise<Claim>,
  { limit, waitMs }: { readonly limit: number; readonly waitMs: number | undefined },
  { outbox, room }: ClaimSignals,
  caller: AbortSignal,
): Promise<readonly OutboxEntry[]> {
  if (waitMs === undefined) return (await claim(limit)).entries;
  const over = AbortSignal.any([caller, AbortSignal.timeout(waitMs)]);
  for (;;) {
    // Waiting begins before the look, so that what is committed meanwhile is not missed.
    const look = new AbortController();
    const either = AbortSignal.any([over, look.signal]);
    const committed = outbox.wait(waitMs, either);
    const notified = outbox.notified();
    let entries: readonly OutboxEntry[] = [];
    try {
      const found = await claim(limit);
      entries = found.entries;
      if (entries.length === 0 && !over.aborted) {
        await (found.isHeldBack ? Promise.race([committed, roomAfter(room, either)]) : committed);
      }
    } finally {
      look.abort();
    }
    if (entries.length === 0 && !over.aborted) continue;
    if (entries.length === limit || outbox.notified() > notified) outbox.notify();
    return entries;
  }
}

async function roomAfter(room: OutboxSignal, signal: AbortSignal): Promise<void> {
  await room.wait(LOOK_AGAIN_MS, signal);
  await wait(GATHER_MS, undefined, { signal }).catch(() => undefined);
}
