import type { Timing } from "@activity/runtime/timing";

/** Milliseconds since 1970 at which every simulation begins. */
export const EPOCH_MS = Date.UTC(2026, 0, 1);

/** A process that can be killed: from then on nothing of it runs. */
export type Process = {
  readonly name: string;
  readonly timing: Timing;
  isAlive(): boolean;
  /** Since when it is dead. */
  killedAtMs(): number | undefined;
  kill(): void;
  /** Tells others of its end, until what it returns is called. */
  onKill(work: () => void): () => void;
};

/** A virtual clock, and all that is to happen. */
export type World = {
  /** Milliseconds since the beginning. */
  nowMs(): number;
  /** Lets something happen in a while, unless what it returns is called. What a process waits for dies with it. */
  after(milliseconds: number, work: () => void, process?: Process): () => void;
  wait(milliseconds: number, process?: Process): Promise<void>;
  startProcess(name: string): Process;
  /** Lets the next thing happen, and all that follows from it at once; false when nothing is left. */
  step(): Promise<boolean>;
  /** When the next thing happens that no process waits for. */
  nextOutsideMs(): number;
  /** Lets time pass in which no process did anything. */
  passQuietly(milliseconds: number): void;
};

type Happening = {
  readonly at: number;
  readonly order: number;
  readonly process: Process | undefined;
  readonly work: () => void;
  isCanceled: boolean;
};

/** Creates a world in which nothing has happened. */
export function createWorld(): World {
  /** Whole microseconds, as all times here: a timer never ends a little before its time. */
  let now = 0;
  let order = 0;
  /** By how much what processes wait for is later than it says: time was skipped. */
  let skipped = 0;
  const outside = createHeap();
  const inside = createHeap();

  function after(milliseconds: number, work: () => void, process?: Process): () => void {
    const own = process === undefined ? 0 : skipped;
    const at = now + Math.max(0, Math.ceil(milliseconds * 1000)) - own;
    const happening = { at, order: order++, process, work, isCanceled: false };
    (process === undefined ? outside : inside).push(happening);
    return () => {
      happening.isCanceled = true;
    };
  }

  const nowMs = () => now / 1000;

  return {
    nowMs,
    after,
    wait: (milliseconds, process) =>
      new Promise((resolve) => after(milliseconds, resolve, process)),
    startProcess(name) {
      let killedAtMs: number | undefined;
      const told = new Set<() => void>();
      const process: Process = {
        name,
        isAlive: () => killedAtMs === undefined,
        killedAtMs: () => killedAtMs,
        kill() {
          if (killedAtMs !== undefined) return;
          killedAtMs = nowMs();
          for (const tell of told) tell();
        },
        onKill(work) {
          told.add(work);
          return () => told.delete(work);
        },
        timing: {
          nowMs,
          after: (milliseconds, work) => after(milliseconds, work, process),
        },
      };
      return process;
    },
    async step() {
      const own = inside.peek();
      const other = outside.peek();
      const isOwn = own !== undefined && own.at + skipped <= (other?.at ?? Infinity);
      const next = (isOwn ? inside : outside).pop();
      if (next === undefined) return false;
      if (next.process?.isAlive() === false) return true;
      now = Math.max(now, next.at + (isOwn ? skipped : 0));
      next.work();
      // Promises that follow from it are settled before this turn of the event loop ends.
      await new Promise(setImmediate);
      return true;
    },
    nextOutsideMs: () => (outside.peek()?.at ?? Infinity) / 1000,
    passQuietly(milliseconds) {
      const micros = Math.floor(milliseconds * 1000);
      skipped += micros;
      now += micros;
    },
  };
}

/** What happens, the first on top. */
function createHeap() {
  const items: Happening[] = [];
  const isBefore = (one: Happening | undefined, other: Happening | undefined) =>
    one !== undefined &&
    other !== undefined &&
    (one.at < other.at || (one.at === other.at && one.order < other.order));
  const swap = (one: number, other: number) => {
    const [a, b] = [items[one], items[other]];
    if (a === undefined || b === undefined) return;
    items[one] = b;
    items[other] = a;
  };

  function pop(): Happening | undefined {
    const [top] = items;
    const last = items.pop();
    if (top === undefined || last === undefined || items.length === 0) return top;
    items[0] = last;
    for (let place = 0; ; ) {
      const [left, right] = [2 * place + 1, 2 * place + 2];
      const child = isBefore(items[right], items[left]) ? right : left;
      if (!isBefore(items[child], items[place])) return top;
      swap(child, place);
      place = child;
    }
  }

  return {
    push(happening: Happening): void {
      items.push(happening);
      for (let place = items.length - 1; place > 0; ) {
        const parent = (place - 1) >> 1;
        if (!isBefore(items[place], items[parent])) break;
        swap(place, parent);
        place = parent;
      }
    },
    pop,
    /** Leaves out what was canceled. */
    peek(): Happening | undefined {
      while (items[0]?.isCanceled) pop();
      return items[0];
    },
  };
}
