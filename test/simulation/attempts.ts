import { AttemptOutcome } from "@activity/proto";
import { LOST_RECORD_DETAIL } from "@activity/runtime/lost-record";
import type { NewAttempt } from "../../server/src/dispatch/record-store.ts";
import type { PostRequest } from "../../workflows/src/http/post-once.ts";
import type { AttemptReport } from "../../workflows/src/http/sender.ts";
import { EPOCH_MS, type Process } from "./world.ts";

/** Of which attempt some bytes are, and when and under which lease they were read. */
export type Load = {
  readonly accountNo: number;
  readonly deliveryId: string;
  readonly run: number;
  readonly attempt: number;
  readonly endpointId: string;
  readonly loadedAtMs: number;
  /** By the database's clock, when they were read, in microseconds. */
  readonly loadedAtMicros: number;
  /** By the database's clock, when it was leased, in microseconds; `undefined` for a retry. */
  readonly leasedAtMicros: number | undefined;
  /** What it is to be signed with. */
  readonly secret: string;
};

/** An attempt that a dispatcher began. */
export type BegunAttempt = Load & {
  readonly process: Process;
  readonly beganMs: number;
  /** When the receiver had the request. */
  postedMs?: number;
  /** What the receiver answered, if it had the request. */
  seen?: undefined | { readonly outcome: string; readonly status: number | undefined };
  endedMs?: number;
  outcome?: string;
};

/** All attempts that were begun, as the network sees them. */
export type Attempts = {
  begin(request: PostRequest, process: Process): BegunAttempt;
  post(one: BegunAttempt, request: PostRequest): void;
  end(one: BegunAttempt, report: AttemptReport): void;
  of(deliveryId: string, run: number, attempt: number): readonly BegunAttempt[];
  all(): readonly BegunAttempt[];
  inFlight(): ReadonlySet<BegunAttempt>;
};

/** Creates a list of attempts; `loadOf` tells what some bytes are, and `onPost` hears of each POST before it is noted. */
export function createAttempts(
  nowMs: () => number,
  loadOf: (body: Uint8Array) => Load,
  onPost: (one: BegunAttempt, request: PostRequest) => void,
): Attempts {
  const all: BegunAttempt[] = [];
  const byKey = new Map<string, BegunAttempt[]>();
  const inFlight = new Set<BegunAttempt>();
  const keyOf = (deliveryId: string, run: number, attempt: number) =>
    `${deliveryId} ${run} ${attempt}`;
  return {
    begin({ body }, process) {
      const one: BegunAttempt = { ...loadOf(body), process, beganMs: nowMs() };
      all.push(one);
      const key = keyOf(one.deliveryId, one.run, one.attempt);
      byKey.set(key, [...(byKey.get(key) ?? []), one]);
      inFlight.add(one);
      process.onKill(() => inFlight.delete(one));
      return one;
    },
    post(one, request) {
      onPost(one, request);
      one.postedMs = nowMs();
    },
    end(one, { outcome }) {
      inFlight.delete(one);
      Object.assign(one, { endedMs: nowMs(), outcome });
    },
    of: (deliveryId, run, attempt) => byKey.get(keyOf(deliveryId, run, attempt)) ?? [],
    all: () => all,
    inFlight: () => inFlight,
  };
}

const OUTCOMES: ReadonlyMap<string, AttemptOutcome> = new Map(Object.entries(AttemptOutcome));

/** Whether a stored attempt is one of those that were made, with what its receiver answered. */
export function isAsMade(stored: NewAttempt, made: readonly BegunAttempt[]): boolean {
  return made.some(({ endedMs, beganMs, seen, outcome = "" }) => {
    if (endedMs === undefined) return false;
    const name = (seen?.outcome ?? outcome).toUpperCase();
    if (OUTCOMES.get(name) !== stored.outcome) return false;
    // Its record was lost with a database that was restored, or with a process: no more is known.
    if (stored.detail === LOST_RECORD_DETAIL) return true;
    const startedMs = Number(stored.startedAt) / 1000 - EPOCH_MS;
    return stored.statusCode === seen?.status && Math.abs(startedMs - beganMs) <= 1;
  });
}
