import { createHmac } from "node:crypto";
import { AttemptOutcome } from "@activity/proto";
import { DeliveryState } from "../../server/src/dispatch/delivery-state.ts";
import { Task } from "../../server/src/dispatch/outbox-store.ts";
import type { AfterAttempt } from "../../server/src/dispatch/record-store.ts";
import { outcomeFromProto } from "../../workflows/src/attempt/outcome.ts";
import type { AttemptKey, Run } from "../../workflows/src/common/run.ts";
import type { PostRequest } from "../../workflows/src/http/post-once.ts";
import {
  type Attempts,
  type BegunAttempt,
  isAsMade,
  isLeaseOver,
  isOfWorkflow,
  keyOf,
  type Load,
} from "./attempts.ts";
import type { Database } from "./database.ts";
import { type DeliveryRow, isRunning, type TableWatcher } from "./memory-tables.ts";
import { edgeName, readStateEdges } from "./state-edges.ts";
import type { Temporal } from "./temporal.ts";
import type { Process } from "./world.ts";

const MINUTE_MS = 60_000;
/** The waits of §6.4, independent of the product's list. */
const WAITS_MS = [1, 5, 15, 60, 180, 360, 720].map((minutes) => minutes * MINUTE_MS);
const RETRIED = new Set(["receiver_busy", "dns_failed", "timeout", "network_error"]);
const MAX_ATTEMPTS = 8;
/**
 * The most attempts of a dispatcher in flight at an endpoint. With `DELIVERY_WORKFLOWS=all` a claim limits the runs
 * that begin. Workflows make their first attempts.
 */
const LIMITS_AT_ENDPOINT = { first: 64, retry: 16, "first of a workflow": 8 } as const;
/** How much times may differ, because they are rounded to milliseconds. */
const ROUNDING_MS = 2;
/** An attempt that was loaded before an answer forbade it may still be sent within this time. */
const IN_FLIGHT_MS = 60_000;
/** The highest age of a lease when the core returns it. */
const MAX_LEASE_AGE_MICROS = 2_000_000;
/** After a step of the clock, the age of a lease is wrong for less than this time, because no claim takes longer. */
const CLOCK_IS_RIGHT_AFTER_MS = 60_000;
/** The longest time until an attempt is recorded: a slow call, a slow statement, and a locked row. */
const RECORD_TRAVELS_MS = 60_000;
const EDGES = readStateEdges();
const LAST_IS_SHOWN = "a delivery shows the last attempt of its run";
const RUN_IS_KEPT = "a run that has not ended is in the outbox or in Temporal";

/** What the rules read. */
type SafetyParts = {
  readonly nowMs: () => number;
  readonly database: () => Database;
  readonly attempts: () => Attempts;
  readonly temporal: () => Temporal;
  /** When an answer of the core forbade this attempt. */
  readonly forbiddenSince: (one: BegunAttempt) => number | undefined;
  /** Whether anything but an outage of the core or whole database can have delayed recording since this time. */
  readonly hinderedSince: (ms: number) => boolean;
  /** The number of a run's attempts that Temporal knew at the restore, if the run had not ended. */
  readonly knownAtRestore: (run: Run) => number;
  /** By how much the clocks of dispatchers have differed at most. */
  readonly clocksDifferMs: () => number;
  readonly isRestored: () => boolean;
  /** Whether `DELIVERY_WORKFLOWS` is `all`. */
  readonly isWhole: boolean;
  /** Whether all dispatchers are of this version. */
  readonly isAlone: boolean;
  /** Reports that a rule was broken, and how. The first report counts. */
  readonly broken: (rule: string, what: string) => void;
};

type RunOf = Pick<Run, "deliveryId" | "run">;

export type Safety = ReturnType<typeof createSafety>;

/** Creates the listeners that check each rule at the moment when it could break. */
export function createSafety(parts: SafetyParts) {
  const { nowMs, attempts, temporal, database } = parts;
  const tables = () => database().tables;
  /** When each attempt was last recorded. */
  const recordedAt = new Map<string, number>();
  /** When a load last found that a delivery's endpoint is off or deleted, or its account blocked. */
  const notSendableAt = new Map<string, number>();
  /** Reports a violation of a rule unless `isKept`. */
  function check(rule: string, isKept: boolean, one: RunOf, what: string): void {
    if (isKept) return;
    parts.broken(rule, `${one.deliveryId} run ${one.run} ${what}`);
  }
  const isRecorded = (key: Omit<AttemptKey, "accountNo">) => tables().attempts.has(keyOf(key));

  /** By how much a retry can be early. The database's clock decides, unless it is wrong or the last attempt is lost. */
  function earlyMs(run: Run): number {
    const isRight = database().steps.length === 0 && temporal().movesOf(run).length === 0;
    return isRight && !parts.isRestored() ? 0 : parts.clocksDifferMs();
  }

  function checkSchedule(one: BegunAttempt): void {
    const { attempt } = one;
    check("eight attempts a run", attempt <= MAX_ATTEMPTS, one, `attempt ${attempt}`);
    if (attempt === 1) return;
    const before = attempts().of({ ...one, attempt: attempt - 1 });
    const ended = before.filter(({ outcome = "" }) => RETRIED.has(outcome));
    const dueMs = Math.min(
      ...ended.map(({ endedMs = Infinity }) => endedMs + (WAITS_MS[attempt - 2] ?? Infinity)),
    );
    const isDue = nowMs() >= dueMs - ROUNDING_MS - earlyMs(one);
    check("no attempt before its time", isDue, one, `attempt ${attempt}, due at ${dueMs}`);
  }

  /** Whether the clock stepped since a lease began, and the lease was over at `atMicros`, or before or after a step. */
  const isEndedByStep = (one: BegunAttempt, atMicros: number) => {
    const leasedAfterMs = one.loadedAtMs - MAX_LEASE_AGE_MICROS / 1000;
    const steps = database().steps.filter(({ atMs }) => atMs >= leasedAfterMs);
    const times = steps.flatMap(({ fromMicros, toMicros }) => [fromMicros, toMicros]);
    return steps.length > 0 && [atMicros, ...times].some((at) => isLeaseOver(one, at));
  };

  /**
   * Checks that an attempt is sent once. An outage alone excuses no second POST: after it, the process that made the
   * attempt records the attempt first. ADR 0028
   */
  function checkOnce(one: BegunAttempt): void {
    const what = `attempt ${one.attempt}`;
    const recordedMs = isRecorded(one) ? recordedAt.get(keyOf(one)) : undefined;
    const isKept = recordedMs === undefined || recordedMs >= one.loadedAtMs;
    check("a recorded attempt is not made again", isKept, one, what);
    for (const other of attempts().of(one)) {
      if (other === one || other.postedMs === undefined) continue;
      const isByOther = other.process !== one.process;
      check("one POST of an attempt by one process", isByOther, one, what);
      const died = other.process.killedAtMs() ?? Infinity;
      const leasedAtMicros = one.leasedAtMicros ?? one.loadedAtMicros;
      const isExcused =
        (died <= nowMs() && died >= other.beganMs) ||
        (parts.hinderedSince(other.loadedAtMs) && isLeaseOver(other, leasedAtMicros)) ||
        isEndedByStep(other, leasedAtMicros) ||
        (parts.hinderedSince(one.loadedAtMs) && isLeaseOver(one, tables().nowMicros())) ||
        temporal()
          .movesOf(one)
          .some((atMs) => atMs >= other.loadedAtMs && atMs <= nowMs());
      const both = `at ${other.postedMs} by ${other.process.name} and now by ${one.process.name}`;
      check("one POST of an attempt", isExcused, one, `${what} ${both}`);
    }
  }

  /** Checks a restore: an attempt that only a process knew may be sent again, with the same event id. ADR 0045 */
  function checkRestored(one: BegunAttempt): void {
    const isNew = one.attempt > parts.knownAtRestore(one);
    check("a restore repeats no attempt that Temporal knows", isNew, one, `attempt ${one.attempt}`);
  }

  function checkAllowed(one: BegunAttempt): void {
    const since = parts.forbiddenSince(one) ?? Infinity;
    const isInFlight = one.loadedAtMs <= since && nowMs() <= since + IN_FLIGHT_MS;
    check("nothing is sent after an answer that forbids it", isInFlight, one, `since ${since}`);
  }

  function kindOf(one: BegunAttempt): keyof typeof LIMITS_AT_ENDPOINT {
    if (!isOfWorkflow(one)) return "first";
    if (one.attempt > 1 || !parts.isWhole) return "retry";
    // The version before limits no first attempt of a restored database.
    const isClaimed = !parts.isAlone || temporal().isClaimed(one);
    return isClaimed ? "first of a workflow" : "retry";
  }
  /**
   * Whether claims count an attempt. A first attempt of a workflow counts only while its entry is leased for it. After
   * a restore, its entry is gone or asks for a retry.
   */
  const isCounted = (one: BegunAttempt) => {
    const entry = tables().entries.get(one.deliveryId);
    const isLeased = entry?.task === Task.Attempt && tables().isLeased(entry.leasedUntil);
    return kindOf(one) !== "first of a workflow" || isLeased;
  };

  /**
   * Checks the limit per dispatcher: a commit does not count other dispatchers' attempts. An attempt whose lease is
   * lost does not count: another process recorded it, a step of the clock ended it, or it began after a late answer.
   */
  function checkInFlight(one: BegunAttempt): void {
    const kind = kindOf(one);
    const { length } = [...attempts().inFlight].filter(
      (other) =>
        other.process === one.process &&
        other.endpointId === one.endpointId &&
        kindOf(other) === kind &&
        !isRecorded(other) &&
        isCounted(other) &&
        !isEndedByStep(other, tables().nowMicros()) &&
        !(parts.hinderedSince(other.loadedAtMs) && isLeaseOver(other, tables().nowMicros())),
    );
    const limit = LIMITS_AT_ENDPOINT[kind];
    check("capacity of an endpoint", length <= limit, one, `${length} in flight`);
  }

  const goesOn = ({ deliveryId, run }: RunOf) =>
    isRunning(tables().deliveries.get(deliveryId), run);

  /** Checks how a run ends: as failed after its eighth failed attempt, or after an outcome without a retry. §6.4 */
  function checkEnd(row: DeliveryRow, { state, attempts: attempt, outcome }: AfterAttempt): void {
    const isDelivered = outcome === AttemptOutcome.DELIVERED;
    const isLast = attempt === MAX_ATTEMPTS || !RETRIED.has(outcomeFromProto(outcome) ?? "");
    const { Delivered, Failed, Retrying } = DeliveryState;
    const right = isDelivered ? Delivered : isLast ? Failed : Retrying;
    const what = `attempt ${attempt}, outcome ${outcome}`;
    check("a run ends for its reason", state === right, row, what);
  }

  /** Checks when a retry is due: one wait after the end of its attempt, even if recorded late; at once if overdue. */
  function checkDue(row: DeliveryRow, { attempts: attempt, retryInMicros }: AfterAttempt): void {
    if (retryInMicros === undefined) return;
    const waitMs = WAITS_MS[attempt - 1] ?? 0;
    const dueMs = nowMs() + retryInMicros / 1000;
    const made = attempts().of({ ...row, attempt });
    // Another dispatcher may record a workflow's attempt. It computes the attempt's age by its own clock.
    const differMs = made.some(isOfWorkflow) ? parts.clocksDifferMs() : earlyMs(row);
    const isRight = ({ endedMs = Infinity }: BegunAttempt) =>
      dueMs >= endedMs + waitMs - ROUNDING_MS - differMs &&
      dueMs <= Math.max(nowMs(), endedMs + waitMs + RECORD_TRAVELS_MS + differMs);
    const what = `due at ${dueMs}, ended at ${made.map(({ endedMs }) => endedMs).join(", ")}`;
    check("a retry is due one wait after its attempt's end", made.some(isRight), row, what);
  }

  function checkSignature(one: BegunAttempt, { headers, body }: PostRequest): void {
    const signed = createHmac("sha256", one.secret)
      .update(`${headers["Service-Timestamp"]}.${headers["Service-Event-Id"]}.`)
      .update(body)
      .digest("hex");
    const isSigned =
      headers["Service-Signature"] === `v1=${signed}` &&
      headers["Service-Attempt"] === String(one.attempt);
    check("the current secret signs each attempt", isSigned, one, `attempt ${one.attempt}`);
  }

  const watcher: TableWatcher = {
    onState(row, before, next) {
      const isEdge = EDGES.has(edgeName(before, next));
      check("edges of ARCHITECTURE.md", isEdge, row, `from ${before ?? "none"} to ${next}`);
      if (next !== DeliveryState.Canceled) return;
      const sinceMs = notSendableAt.get(row.deliveryId) ?? Number.NEGATIVE_INFINITY;
      const isForbidden = nowMs() - sinceMs <= IN_FLIGHT_MS;
      check("a run is canceled for its reason", isForbidden, row, `after ${row.attempts} attempts`);
    },
    onNotSendable({ deliveryId }) {
      notSendableAt.set(deliveryId, nowMs());
    },
    onAttempt(stored) {
      recordedAt.set(keyOf(stored), nowMs());
      const isRight = isAsMade(stored, attempts().of(stored));
      check("a record holds the receiver's answer", isRight, stored, `attempt ${stored.attempt}`);
    },
    onOutcome(row, after) {
      const stored = tables().attempts.get(keyOf({ ...row, attempt: after.attempts }));
      const isNext = after.attempts > row.attempts;
      const isBetter = after.attempts === row.attempts && after.state === DeliveryState.Delivered;
      const isLast = stored?.outcome === after.outcome && (isNext || isBetter);
      const what = `attempt ${after.attempts}`;
      check(LAST_IS_SHOWN, isLast, row, what);
      checkEnd(row, after);
      checkDue(row, after);
    },
    onDelete(entry) {
      const isKept = !goesOn(entry) || temporal().hadWorkflow(entry);
      check(RUN_IS_KEPT, isKept, entry, "has left the outbox");
    },
  };

  return {
    watcher,
    onPost(one: BegunAttempt, request: PostRequest): void {
      checkSchedule(one);
      checkOnce(one);
      checkRestored(one);
      checkAllowed(one);
      checkInFlight(one);
      checkSignature(one, request);
    },
    /** A workflow ends without a termination. */
    onEnd(run: Run): void {
      const isKept = !goesOn(run) || tables().entries.get(run.deliveryId)?.run === run.run;
      check(RUN_IS_KEPT, isKept, run, "has left Temporal");
    },
    /** A worker's code cannot continue a workflow from its history. */
    onDiverged(run: Run, what: string): void {
      check("a workflow can be replayed", false, run, what);
    },
    /** The core answers a claim of first attempts. */
    onClaimed(load: Load): void {
      const steppedAtMs = database().steps.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY;
      if (nowMs() - steppedAtMs < CLOCK_IS_RIGHT_AFTER_MS) return;
      const age = tables().nowMicros() - (load.leasedAtMicros ?? 0);
      const isYoung = age <= MAX_LEASE_AGE_MICROS + ROUNDING_MS * 1000;
      check("a claim is answered while its lease is young", isYoung, load, `is ${age} us old`);
    },
    /** A recorder believes that an attempt is recorded. */
    onRecorded(key: AttemptKey): void {
      const row = tables().deliveries.get(key.deliveryId);
      // A restored database lacks the delivery. Nothing is left to record.
      if (row === undefined) return;
      const what = `attempt ${key.attempt}`;
      check("an attempt is kept until it is recorded", isRecorded(key), key, what);
      if (row.run !== key.run || row.attempts !== key.attempt) return;
      const isShown = tables().attempts.get(keyOf(key))?.outcome === row.lastOutcome;
      check(LAST_IS_SHOWN, isShown, key, what);
    },
    /** A dispatcher has stopped, after its attempts had their time to end. */
    onStopped(process: Process): void {
      for (const one of attempts().inFlight) {
        const isOver = one.process !== process || isOfWorkflow(one);
        check("a stop waits for attempts in flight", isOver, one, `attempt ${one.attempt}`);
      }
    },
  };
}
