import { delayAfterMs, MAX_ATTEMPTS } from "../../workflows/src/attempt/retry-schedule.ts";

const DAY_SECONDS = 86_400;
/** When attempts 1 to 8 of a run are made, in seconds after the first, where each is refused at once. §6.4 */
const ATTEMPT_SECONDS = [0];
for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt++) {
  ATTEMPT_SECONDS.push((ATTEMPT_SECONDS[attempt - 1] ?? 0) + (delayAfterMs(attempt) ?? 0) / 1000);
}
const RUN_SECONDS = ATTEMPT_SECONDS.at(-1) ?? 0;

/** Counts the runs that sleep at one moment, of `eventsADay` events a day whose endpoints never answer. */
export function countAsleep(eventsADay: number, random: () => number): number {
  const days = 2;
  const nowSeconds = days * DAY_SECONDS;
  return eventTimes(days * eventsADay, nowSeconds, random).filter(
    (seconds) => seconds + RUN_SECONDS > nowSeconds,
  ).length;
}

/** What follows a time in which all endpoints, or nobody's attempts, were away. */
export type Aftermath = {
  /** Runs that wait for their retry at its end. */
  readonly asleep: number;
  /** Retries that fall due at its very end, and in the busiest second of the hour behind it. */
  readonly dueAtOnce: number;
  readonly duePeak: number;
};

/**
 * Fails every attempt for a time, as when our own network is away, and tells what falls due when. Each run keeps its own
 * schedule, so what was due within that time was attempted then, and failed.
 */
export function failAll(
  eventsADay: number,
  outageSeconds: number,
  random: () => number,
): Aftermath {
  const times = eventTimes((eventsADay * outageSeconds) / DAY_SECONDS, outageSeconds, random);
  const due = times.flatMap((seconds) => {
    const next = ATTEMPT_SECONDS.find((after) => seconds + after >= outageSeconds);
    return next === undefined ? [] : [seconds + next - outageSeconds];
  });
  return aftermathOf(due);
}

/**
 * Leaves Temporal away for a time, beside endpoints that never answer: what falls due meanwhile, and what begins to be
 * retried, waits for its end.
 */
export function loseTemporal(
  failingADay: number,
  awaySeconds: number,
  random: () => number,
): Aftermath {
  const days = 2;
  const awayFrom = days * DAY_SECONDS;
  const end = awayFrom + awaySeconds;
  const times = eventTimes((failingADay * end) / DAY_SECONDS, end, random);
  const due = times.flatMap((seconds) => {
    const next = ATTEMPT_SECONDS.slice(1).find((after) => seconds + after >= awayFrom);
    return next === undefined ? [] : [Math.max(0, seconds + next - end)];
  });
  return aftermathOf(due);
}

function aftermathOf(due: readonly number[]): Aftermath {
  const later = due.filter((seconds) => seconds > 0);
  const perSecond = Map.groupBy(later, Math.floor);
  const duePeak = Math.max(0, ...[...perSecond.values()].map(({ length }) => length));
  return { asleep: due.length, dueAtOnce: due.length - later.length, duePeak };
}

function eventTimes(count: number, withinSeconds: number, random: () => number): number[] {
  return Array.from({ length: Math.round(count) }, () => random() * withinSeconds);
}
