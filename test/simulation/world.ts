import type { Timing } from "@activity/runtime/timing";

/** The time at which every simulation begins, in milliseconds since 1970. */
export const EPOCH_MS = Date.UTC(2026, 0, 1);

/** A simulated process. After a kill none of its timers fires. */
export type Process = {
  readonly name: string;
  readonly timing: Timing;
  /** How far the wall clock of its host is ahead of the true time. */
  readonly aheadMs: number;
  /** Reads that clock: milliseconds since 1970. */
  wallMs(): number;
  isAlive(): boolean;
  /** When it was killed; `undefined` while it lives. */
  killedAtMs(): number | undefined;
  kill(): void;
  /** Calls `work` when the process is killed. Returns a function that cancels this. */
  onKill(work: () => void): () => void;
};

/** The number of turns that the event loop begins before it looks for other work. */
const TURNS = 64;

type Timer = {
  /** In microseconds. */
  readonly at: number;
  readonly process: Process | undefined;
  readonly work: () => void;
  isCanceled: boolean;
};

export type World = ReturnType<typeof createWorld>;

/** Creates a virtual clock at time 0, without timers. */
export function createWorld() {
  /** In whole microseconds, as all times here, so that no timer fires a little early. */
  let now = 0;
  /** How much time was skipped: timers of processes fire this much later than their `at`. */
  let skipped = 0;
  /** The timers of no process. In both lists the next timer is the last. */
  const outside: Timer[] = [];
  const inside: Timer[] = [];

  const nowMs = () => now / 1000;

  /** Calls `work` after a time, unless `process` is dead then. Returns a function that cancels the timer. */
  function after(milliseconds: number, work: () => void, process?: Process): () => void {
    const [timers, own] = process === undefined ? [outside, 0] : [inside, skipped];
    const at = now + Math.max(0, Math.ceil(milliseconds * 1000)) - own;
    const timer = { at, process, work, isCanceled: false };
    // Of timers with the same time, the first to be set is the first to fire.
    timers.splice(placeOf(at, timers), 0, timer);
    return () => {
      timer.isCanceled = true;
    };
  }

  /** Turns that the event loop still has to begin. */
  let turns = 0;
  let beginTurn = () => {};

  /**
   * Resolves when the next turn begins. Before that, all queued promise callbacks run, and a rejection without a
   * handler ends the process. One iteration of the event loop begins many turns, which is faster than an iteration for
   * each.
   */
  function nextTurn(): Promise<void> {
    for (const isEmpty = turns === 0; isEmpty && turns < TURNS; turns++) {
      setImmediate(() => {
        turns -= 1;
        beginTurn();
      });
    }
    return new Promise((resolve) => {
      beginTurn = resolve;
    });
  }

  return {
    nowMs,
    after,
    wait: (milliseconds: number) =>
      new Promise<void>((resolve) => {
        after(milliseconds, resolve);
      }),

    startProcess(name: string, aheadMs = 0): Process {
      let killedAtMs: number | undefined;
      const listeners = new Set<() => void>();
      const process: Process = {
        ...{ name, aheadMs },
        wallMs: () => Math.floor(EPOCH_MS + aheadMs + nowMs()),
        isAlive: () => killedAtMs === undefined,
        killedAtMs: () => killedAtMs,
        kill() {
          if (killedAtMs !== undefined) return;
          killedAtMs = nowMs();
          for (const listener of listeners) listener();
        },
        onKill(work) {
          listeners.add(work);
          return () => listeners.delete(work);
        },
        timing: { nowMs, after: (milliseconds, work) => after(milliseconds, work, process) },
      };
      return process;
    },

    /** Fires the next timer, and settles the promises that follow. Returns false when no timer is left. */
    async step(): Promise<boolean> {
      const [own, other] = [nextOf(inside), nextOf(outside)];
      const isOwn = own !== undefined && own.at + skipped <= (other?.at ?? Infinity);
      const next = (isOwn ? inside : outside).pop();
      if (next === undefined) return false;
      if (next.process?.isAlive() === false) return true;
      now = Math.max(now, next.at + (isOwn ? skipped : 0));
      next.work();
      await nextTurn();
      return true;
    },

    /** When the next timer of no process fires. */
    nextOutsideMs: () => (nextOf(outside)?.at ?? Infinity) / 1000,

    /** Skips a time in which no process has work. */
    skip(milliseconds: number): void {
      const micros = Math.floor(milliseconds * 1000);
      skipped += micros;
      now += micros;
    },
  };
}

/** Returns the number of timers that fire later than `at`. They are the first of the list. */
function placeOf(at: number, timers: readonly Timer[]): number {
  let [low, high] = [0, timers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((timers[middle]?.at ?? 0) > at) low = middle + 1;
    else high = middle;
  }
  return low;
}

function nextOf(timers: Timer[]): Timer | undefined {
  while (timers.at(-1)?.isCanceled) timers.pop();
  return timers.at(-1);
}
