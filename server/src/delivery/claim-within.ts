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
  claim: () => Promise<Claim>,
  { limit, waitMs }: { readonly limit: number; readonly waitMs: number | undefined },
  signals: ClaimSignals,
  caller: AbortSignal,
): Promise<readonly OutboxEntry[]> {
  if (waitMs === undefined) return (await claim()).entries;
  const { outbox } = signals;
  const over = AbortSignal.any([caller, AbortSignal.timeout(waitMs)]);
  let notified = outbox.notified();
  let entries: readonly OutboxEntry[] = [];
  try {
    while (entries.length === 0 && !over.aborted) {
      notified = outbox.notified();
      entries = await lookOrWait(claim, waitMs, signals, over);
    }
    return entries;
  } finally {
    if (entries.length === limit || outbox.notified() > notified) outbox.notify();
  }
}

/** Claims; with nothing to claim, comes back when there may be. */
async function lookOrWait(
  claim: () => Promise<Claim>,
  waitMs: number,
  { outbox, room }: ClaimSignals,
  over: AbortSignal,
): Promise<readonly OutboxEntry[]> {
  const ended = new AbortController();
  const either = AbortSignal.any([over, ended.signal]);
  // Waiting begins before the look, so that what is committed meanwhile is not missed.
  const committed = outbox.wait(waitMs, either);
  try {
    const { entries, isHeldBack } = await claim();
    if (entries.length === 0 && !over.aborted) {
      await (isHeldBack ? Promise.race([committed, roomAfter(room, either)]) : committed);
    }
    return entries;
  } finally {
    ended.abort();
  }
}

async function roomAfter(room: OutboxSignal, signal: AbortSignal): Promise<void> {
  await room.wait(LOOK_AGAIN_MS, signal);
  await wait(GATHER_MS, undefined, { signal }).catch(() => undefined);
}
