import type { Streams } from "./random.ts";

/** The faults that a message can have. */
export const Fault = {
  /** It never arrives. Its sender gets an error at once. */
  Refused: "refused",
  /** It never arrives. Its sender gets no error. */
  Lost: "lost",
  /** It takes effect. Its sender hears that it failed. */
  Broken: "broken",
  /** It takes effect. Its sender hears nothing. */
  AnswerLost: "answer lost",
  /** It takes effect twice. */
  Twice: "twice",
} as const;
export type Fault = (typeof Fault)[keyof typeof Fault];
const FAULTS = Object.values(Fault);

/** The share of faults that only delay a message, and their longest delay. */
const SLOW_SHARE = 0.3;
const SLOWEST_MS = 20_000;

export type Faults = ReturnType<typeof createFaults>;

/** Creates faults for a share of all messages, except those whose names are in `skipped`. */
export function createFaults(
  nowMs: () => number,
  streams: Streams,
  share: number,
  skipped: readonly string[],
) {
  const counts = new Map<string, number>();
  /** The names of the faults so far. */
  const happened: string[] = [];
  let isHealed = false;
  let lastMs = Number.NEGATIVE_INFINITY;

  return {
    happened,
    /** Notes that a fault hinders calls now: a message has a fault, or another fault begins or ends. */
    note(): void {
      lastMs = nowMs();
    },
    /** Whether a noted fault can have hindered calls since this time. */
    hinderedSince: (ms: number) => lastMs + SLOWEST_MS >= ms,
    /** From now on no message has a fault. */
    heal(): void {
      isHealed = true;
    },
    /** Draws the time that a message takes each way, and its fault if it has one. */
    pass(link: string): { thereMs: number; backMs: number; fault: Fault | undefined } {
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
      if (skipped.includes(name)) return { ...quick, fault: undefined };
      happened.push(name);
      this.note();
      if (!isSlow) return { ...quick, fault };
      const slow = isSlowThere ? { thereMs: slowMs } : { backMs: slowMs };
      return { ...quick, ...slow, fault: undefined };
    },
  };
}
