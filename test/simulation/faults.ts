import type { createStreams } from "./random.ts";

/** What becomes of a message: how long it takes each way, and what befalls it. */
export type Passage = {
  readonly thereMs: number;
  readonly backMs: number;
  readonly fault: Fault | undefined;
};
export const Fault = {
  /** It never arrives, and its sender is told at once. */
  Refused: "refused",
  /** It never arrives, and nobody is told. */
  Lost: "lost",
  /** It takes effect, and its sender is told that it failed. */
  Broken: "broken",
  /** It takes effect, and its sender hears nothing. */
  AnswerLost: "answer lost",
  /** It takes effect twice. */
  Twice: "twice",
} as const;
export type Fault = (typeof Fault)[keyof typeof Fault];
const FAULTS = [Fault.Refused, Fault.Lost, Fault.Broken, Fault.AnswerLost, Fault.Twice] as const;

/** Draws what befalls messages. */
export type Faults = {
  pass(link: string): Passage;
  /** From now on nothing goes wrong any more. */
  heal(): void;
  /** The names of those that happened. */
  readonly happened: string[];
};

/** How much of all messages are slow, by up to 20 seconds. */
const SLOW_SHARE = 0.3;
const SLOWEST_MS = 20_000;

/** Draws a fault for a share of all messages; those in `skipped`, by their names, do not happen. */
export function createFaults(
  streams: ReturnType<typeof createStreams>,
  share: number,
  skipped: ReadonlySet<string>,
): Faults {
  const counts = new Map<string, number>();
  const happened: string[] = [];
  let isHealed = false;

  return {
    happened,
    heal() {
      isHealed = true;
    },
    pass(link) {
      const random = streams(`link ${link}`);
      const quick = { thereMs: random.between(0.2, 3), backMs: random.between(0.2, 3) };
      const isFault = random.chance(share);
      const fault = random.pick(FAULTS);
      const isSlow = random.chance(SLOW_SHARE);
      const slowMs = random.next() ** 3 * SLOWEST_MS;
      const isSlowThere = random.chance(0.5);
      if (!isFault || isHealed) return { ...quick, fault: undefined };
      const count = (counts.get(link) ?? 0) + 1;
      counts.set(link, count);
      const name = `${link} ${count}`;
      if (skipped.has(name)) return { ...quick, fault: undefined };
      happened.push(name);
      if (!isSlow) return { ...quick, fault };
      const slow = isSlowThere ? { thereMs: slowMs } : { backMs: slowMs };
      return { ...quick, ...slow, fault: undefined };
    },
  };
}
