import { delayAfterMs, MAX_ATTEMPTS } from "../../workflows/src/attempt/retry-schedule.ts";

type Random = () => number;

const DAY_SECONDS = 86_400;
/** Long enough that the runs that sleep are as many as ever. */
const BEFORE_SECONDS = 2 * DAY_SECONDS;
/** When attempts 1 to 8 of a run are made, in seconds after the first, where each is refused at once. §6.4 */
const ATTEMPT_SECONDS = [0];
for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt++) {
  ATTEMPT_SECONDS.push((ATTEMPT_SECONDS[attempt - 1] ?? 0) + (delayAfterMs(attempt) ?? 0) / 1000);
}
const RUN_SECONDS = ATTEMPT_SECONDS.at(-1) ?? 0;

/** Counts the runs that sleep at one moment, of `eventsADay` events a day whose endpoints never answer. */
export function countAsleep(eventsADay: number, random: Random): number {
  const times = eventTimes(eventsADay, BEFORE_SECONDS, random);
  return times.filter((seconds) => seconds + RUN_SECONDS > BEFORE_SECONDS).length;
}

/**
 * Fails every attempt for a time, as when our own network is away, and tells what falls due when. Each run keeps its own
 * schedule, so what was due within that time was attempted then, and failed.
 */
export function failAll(eventsADay: number, outageSeconds: number, random: Random) {
  const times = eventTimes(eventsADay, outageSeconds, random);
  return aftermathOf(times, ATTEMPT_SECONDS, outageSeconds, outageSeconds);
}

/**
 * Leaves Temporal away for a time, beside endpoints that never answer: what falls due meanwhile, and what begins to be
 * retried, waits for its end.
 */
export function loseTemporal(failingADay: number, awaySeconds: number, random: Random) {
  const end = BEFORE_SECONDS + awaySeconds;
  const times = eventTimes(failingADay, end, random);
  return aftermathOf(times, ATTEMPT_SECONDS.slice(1), BEFORE_SECONDS, end);
}

/** Fails attempts from a moment on until its `end`: how many runs wait then, and how many retries fall due when. */
function aftermathOf(times: number[], attempts: number[], from: number, end: number) {
  const due = times.flatMap((seconds) => {
    const next = attempts.find((after) => seconds + after >= from);
    return next === undefined ? [] : [Math.max(0, seconds + next - end)];
  });
  const later = due.filter((seconds) => seconds > 0);
  const perSecond = [...Map.groupBy(later, Math.floor).values()];
  const duePeak = Math.max(0, ...perSecond.map(({ length }) => length));
  return { asleep: due.length, dueAtOnce: due.length - later.length, duePeak };
}

function eventTimes(perDay: number, withinSeconds: number, random: Random): number[] {
  const count = Math.round((perDay * withinSeconds) / DAY_SECONDS);
  return Array.from({ length: count }, () => random() * withinSeconds);
}
