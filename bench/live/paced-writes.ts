import { setTimeout as wait } from "node:timers/promises";

/** How long records take to reach their followers. Each time begins when the write is due. */
export type Waits = ReturnType<typeof createWaits>;

/** Creates an empty list of waits. A follower has at most one record on its way. */
export function createWaits() {
  const dueMs = new Map<number, number>();
  const tookMs: number[] = [];
  return {
    begin: (place: number, atMs: number) => void dueMs.set(place, atMs),
    /** Ends the wait of a follower. Ignores a record that was written before this measurement. */
    end(place: number, atMs: number): void {
      const beganMs = dueMs.get(place);
      dueMs.delete(place);
      if (beganMs !== undefined) tookMs.push(atMs - beganMs);
    },
    count: () => tookMs.length,
    /** Returns the waits of all `written` records. Throws if one has not arrived. */
    all(written: number): readonly number[] {
      if (tookMs.length === written) return tookMs;
      throw new Error(`${written - tookMs.length} of ${written} records were lost`);
    },
  };
}

/**
 * Calls `write` for each item at a steady rate. A wait begins when its write is due, so that a late call counts as a
 * longer wait.
 */
export async function writePaced<Item>(
  items: readonly Item[],
  perSecond: number,
  { write, begin }: { write(item: Item): Promise<unknown>; begin: Waits["begin"] },
): Promise<void> {
  const startedMs = performance.now();
  const calls: Promise<unknown>[] = [];
  for (const [turn, item] of items.entries()) {
    const dueMs = startedMs + (turn * 1_000) / perSecond;
    await wait(Math.max(0, dueMs - performance.now()));
    begin(turn, dueMs);
    calls.push(write(item));
  }
  await Promise.all(calls);
}
