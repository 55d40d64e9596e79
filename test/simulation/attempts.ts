import * as proto from "@activity/proto";
import { LOST_RECORD_DETAIL } from "@activity/runtime/lost-record";
import type { Message } from "@bufbuild/protobuf";
import type { NewAttempt } from "../../server/src/dispatch/record-store.ts";
import type { AttemptKey } from "../../workflows/src/common/run.ts";
import type { PostRequest } from "../../workflows/src/http/post-once.ts";
import type { AttemptReport } from "../../workflows/src/http/sender.ts";
import { EPOCH_MS, type Process } from "./world.ts";

const LEASE_MICROS = 14_000_000;
const CLOCK_STEP_MICROS = 60_000_000;

/** How a payload was read from the database. */
type Source = {
  readonly loadedAtMs: number;
  /** The time of the load by the database's clock, in microseconds. */
  readonly loadedAtMicros: number;
  /** The time of the lease by the database's clock, in microseconds; `undefined` if a workflow makes the attempt. */
  readonly leasedAtMicros: number | undefined;
  /** The secret that must sign the attempt. */
  readonly secret: string;
};

/** An attempt that the core gave to a dispatcher, and how its payload was read. */
export type Load = AttemptKey & Source & { readonly endpointId: string };

/** An attempt that a dispatcher began. */
export type BegunAttempt = Load & {
  readonly process: Process;
  readonly beganMs: number;
  /** When the receiver got the request. */
  postedMs?: number;
  /** The receiver's answer, if it got the request. */
  seen?: { readonly outcome: string; readonly status: number | undefined };
  endedMs?: number;
  outcome?: string;
};

export type Attempts = ReturnType<typeof createAttempts>;

/** Creates a list of payloads that are read and attempts that begin. Calls `onPost` before each POST. */
export function createAttempts(
  nowMs: () => number,
  onPost: (one: BegunAttempt, request: PostRequest) => void,
) {
  /** How each payload was read for each endpoint. */
  const sources = new WeakMap<Uint8Array, Map<string, Source>>();
  /** The attempt of each payload, by the number at its end. A request does not name its run. */
  const loads: Load[] = [];
  const all: BegunAttempt[] = [];
  const byKey = new Map<string, BegunAttempt[]>();
  const inFlight = new Set<BegunAttempt>();
  /** Attempts that may still be recorded. A reader deletes those that are recorded, or whose process is dead. */
  const unrecorded = new Set<BegunAttempt>();

  /** Appends to the payload a number that identifies the attempt. */
  function identify(ready?: proto.ReadyAttempt, key?: proto.RunKey, attempt = 1): Load {
    if (ready === undefined || key === undefined) throw new Error("an answer lacks its attempt");
    const { endpointId } = ready;
    const source = sources.get(ready.payload)?.get(endpointId);
    if (source === undefined) throw new Error("no load of this payload was noted");
    ready.payload = Buffer.concat([ready.payload, Buffer.from(` ${loads.length}`)]);
    const { deliveryId, run } = key;
    const accountNo = Number(key.accountNo);
    const load = { ...source, accountNo, deliveryId, run, attempt, endpointId };
    loads.push(load);
    return load;
  }

  const of = (key: Omit<AttemptKey, "accountNo">): readonly BegunAttempt[] =>
    byKey.get(keyOf(key)) ?? [];

  return {
    all,
    inFlight,
    unrecorded,
    /** Notes how a payload was read for an endpoint. */
    noteSource(payload: Uint8Array, endpointId: string, source: Source): void {
      const known = sources.get(payload) ?? new Map<string, Source>();
      sources.set(payload, known.set(endpointId, source));
    },
    /** Notes each attempt in an answer of the core, and returns them. */
    noteAnswer(method: string, request: Message, answer: Message): readonly Load[] {
      if (method === "claimAttempts") {
        const { attempts } = answer as proto.ClaimAttemptsResponse;
        return attempts.map(({ run, ready }) => identify(ready, run));
      }
      if (method !== "loadAttempt") return [];
      const { step } = answer as proto.LoadAttemptResponse;
      const { run, attempt } = request as proto.LoadAttemptRequest;
      return step.case === "ready" ? [identify(step.value, run, attempt)] : [];
    },
    begin({ body }: PostRequest, process: Process): BegunAttempt {
      const load = loads[Number(Buffer.from(body).toString().split(" ").at(-1))];
      if (load === undefined) throw new Error("no answer of the core contained this payload");
      const one: BegunAttempt = { ...load, process, beganMs: nowMs() };
      all.push(one);
      byKey.set(keyOf(one), [...of(one), one]);
      inFlight.add(one);
      unrecorded.add(one);
      process.onKill(() => inFlight.delete(one));
      return one;
    },
    post(one: BegunAttempt, request: PostRequest): void {
      onPost(one, request);
      one.postedMs = nowMs();
    },
    end(one: BegunAttempt, { outcome }: AttemptReport): void {
      inFlight.delete(one);
      Object.assign(one, { endedMs: nowMs(), outcome });
    },
    /** Lists each time that an attempt was begun. */
    of,
  };
}

/**
 * Whether a workflow makes an attempt. Workflows make all retries and the first attempts of restored runs. With
 * `DELIVERY_WORKFLOWS=all` they make all first attempts.
 */
export const isOfWorkflow = ({ leasedAtMicros }: Load) => leasedAtMicros === undefined;

/** Whether a first attempt's lease has ended by the database's clock, or dates from before that clock stepped back. */
export function isLeaseOver({ leasedAtMicros }: BegunAttempt, atMicros: number): boolean {
  if (leasedAtMicros === undefined) return false;
  const leasedUntil = leasedAtMicros + LEASE_MICROS;
  return leasedUntil <= atMicros || leasedUntil > atMicros + LEASE_MICROS + CLOCK_STEP_MICROS;
}

/** Returns a text that identifies an attempt. */
export function keyOf({ deliveryId, run, attempt }: Omit<AttemptKey, "accountNo">): string {
  return `${deliveryId} ${run} ${attempt}`;
}

const OUTCOMES: ReadonlyMap<string, proto.AttemptOutcome> = new Map(
  Object.entries(proto.AttemptOutcome),
);

/** Whether a stored attempt is one of those that were made, with the answer of its receiver. */
export function isAsMade(stored: NewAttempt, made: readonly BegunAttempt[]): boolean {
  return made.some(({ endedMs, beganMs, seen, outcome = "", process }) => {
    if (endedMs === undefined) return false;
    const name = (seen?.outcome ?? outcome).toUpperCase();
    if (OUTCOMES.get(name) !== stored.outcome) return false;
    // A restored database or a process lost what was known of the attempt, except its outcome and end.
    if (stored.detail === LOST_RECORD_DETAIL) return true;
    const startedMs = Number(stored.startedAt) / 1000 - EPOCH_MS - process.aheadMs;
    return stored.statusCode === seen?.status && Math.abs(startedMs - beganMs) <= 1;
  });
}
