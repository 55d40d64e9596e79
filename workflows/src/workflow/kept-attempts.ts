import type { FinishedAttempt } from "../attempt/make-attempt.ts";
import { type AttemptKey, attemptName } from "../common/run.ts";

/** The attempts that a worker has in flight or has made, so that it makes none again while it lives. */
export type KeptAttempts = {
  get(key: AttemptKey): Promise<FinishedAttempt> | undefined;
  keep(key: AttemptKey, finished: Promise<FinishedAttempt>): void;
  /** Tells that the core has it: it stays for a while only. */
  recorded(key: AttemptKey): void;
  isRecorded(key: AttemptKey): boolean;
  /** Tells that it was not made. */
  forget(key: AttemptKey): void;
};

/** They wait for Temporal or the core to be back; each holds 1 KiB of an answer at most. */
const MAX_UNRECORDED = 20_000;
/** Who asked the core just before may have been told that it is not recorded. */
const MAX_RECORDED = 2_000;

/** Keeps attempts: none that is not recorded goes for one that is. */
export function createKeptAttempts(): KeptAttempts {
  const unrecorded = new Map<string, Promise<FinishedAttempt>>();
  const recorded = new Map<string, Promise<FinishedAttempt>>();
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

/** Leaves out the oldest beyond `max`. */
function add<Value>(map: Map<string, Value>, max: number, name: string, value: Value): void {
  map.set(name, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}
