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
 * the caller is gone. Without a wait it looks once.
 */
export async function claimWithin(
  claim: () => Promise<Claim>,
  waitMs: number | undefined,
  { outbox, room }: ClaimSignals,
  caller: AbortSignal,
): Promise<readonly OutboxEntry[]> {
  if (waitMs === undefined) return (await claim()).entries;
  const over = AbortSignal.any([caller, AbortSignal.timeout(waitMs)]);
  for (;;) {
    // Waiting begins before the look, so that what is committed meanwhile is not missed.
    const look = new AbortController();
    const either = AbortSignal.any([over, look.signal]);
    const committed = outbox.wait(waitMs, either);
    try {
      const { entries, isHeldBack } = await claim();
      if (entries.length > 0 || over.aborted) return entries;
      await (isHeldBack ? Promise.race([committed, roomAfter(room, either)]) : committed);
      if (over.aborted) return [];
    } finally {
      look.abort();
    }
  }
}

async function roomAfter(room: OutboxSignal, signal: AbortSignal): Promise<void> {
  await room.wait(LOOK_AGAIN_MS, signal);
  await wait(GATHER_MS, undefined, { signal }).catch(() => undefined);
}
