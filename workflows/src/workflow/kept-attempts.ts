import type { FinishedAttempt } from "../attempt/make-attempt.ts";
import { type AttemptKey, attemptName } from "../common/run.ts";

/**
 * A made attempt, with its end by the worker's monotonic clock. It lacks the texts of the answer: they may be personal
 * data, which the database erases and a worker would keep.
 */
export type KeptAttempt = Omit<FinishedAttempt, "headers" | "bodyStart" | "traceparent"> & {
  readonly endedMs: number;
};

/** A worker's attempts, in flight and finished. It keeps them so that it makes none twice. */
export type KeptAttempts = {
  get(key: AttemptKey): Promise<KeptAttempt> | undefined;
  keep(key: AttemptKey, finished: Promise<KeptAttempt>): void;
  /** Marks the attempt as recorded. It is kept until newer recorded ones replace it. */
  recorded(key: AttemptKey): void;
  isRecorded(key: AttemptKey): boolean;
  /** Drops an attempt that was not made. */
  forget(key: AttemptKey): void;
};

/** The most attempts that are not recorded: they wait for Temporal or the core to return. */
const MAX_UNRECORDED = 20_000;
/**
 * The largest number of recorded attempts that are kept, for a caller that asked the core just before it recorded the
 * attempt.
 */
const MAX_RECORDED = 2_000;

/** Creates an empty store. A recorded attempt never displaces one that is not recorded. */
export function createKeptAttempts(): KeptAttempts {
  const unrecorded = new Map<string, Promise<KeptAttempt>>();
  const recorded = new Map<string, Promise<KeptAttempt>>();
  return {
    get(key) {
      const name = attemptName(key);
      return unrecorded.get(name) ?? recorded.get(name);
    },
    keep: (key, finished) => add(unrecorded, MAX_UNRECORDED, attemptName(key), finished),
    recorded(key) {
      const name = attemptName(key);
      const finished = unrecorded.get(name);
      if (finished === undefined) return;
      unrecorded.delete(name);
      add(recorded, MAX_RECORDED, name, finished);
    },
    isRecorded: (key) => recorded.has(attemptName(key)),
    forget: (key) => unrecorded.delete(attemptName(key)),
  };
}

/** Adds an entry, and removes the oldest beyond `max`. */
function add<Value>(map: Map<string, Value>, max: number, name: string, value: Value): void {
  map.set(name, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}
