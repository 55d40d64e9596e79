import { createHmac } from "node:crypto";
import { DeliveryState, RUNNING_STATES } from "../../server/src/dispatch/delivery-state.ts";
import type { AfterAttempt } from "../../server/src/dispatch/record-store.ts";
import type { AttemptKey, Run } from "../../workflows/src/common/run.ts";
import type { PostRequest } from "../../workflows/src/http/post-once.ts";
import { type Attempts, type BegunAttempt, isAsMade, type Load } from "./attempts.ts";
import type { DeliveryRow, Tables, TableWatcher } from "./memory-tables.ts";
import { edgeName, readStateEdges } from "./state-edges.ts";
import type { Process } from "./world.ts";

/** What was broken, and how. */
export class Violation extends Error {
  override readonly name = "Violation";
  readonly rule: string;

  constructor(rule: string, what: string) {
    super(`${rule}: ${what}`);
    this.rule = rule;
  }
}

const MINUTE_MS = 60_000;
/** §6.4, written down once more. */
const WAITS_MS = [1, 5, 15, 60, 180, 360, 720].map((minutes) => minutes * MINUTE_MS);
const RETRIED = new Set(["receiver_busy", "dns_failed", "timeout", "network_error"]);
const MAX_ATTEMPTS = 8;
const FIRSTS_AT_ENDPOINT = 64;
const RETRIES_AT_ENDPOINT = 16;
/** Times are told to the millisecond. */
const ROUNDING_MS = 2;
/** How long after an answer of the core what it forbids may still be sent, because it was loaded before. */
const IN_FLIGHT_MS = 60_000;
const LEASE_MICROS = 14_000_000;
const CLOCK_STEP_MICROS = 60_000_000;
/** How old a lease may be when the core answers with it. */
const MAX_LEASE_AGE_MICROS = 2_000_000;
/** Longer than a claim takes. */
const CLOCK_IS_RIGHT_AFTER_MS = 60_000;
/** How long the record of an attempt may be on its way: a slow call, a slow statement, and a row that is locked. */
const RECORD_TRAVELS_MS = 60_000;
const EDGES = readStateEdges();

/** What the rules need to know beside the attempts. */
export type SafetyParts = {
  readonly nowMs: () => number;
  readonly databaseMicros: () => number;
  /** When the database's clock stepped last. */
  readonly steppedAtMs: () => number;
  readonly tables: () => Tables;
  readonly attempts: () => Attempts;
  /** Since when the core's answer forbids to send, by endpoint, account or delivery. */
  readonly forbiddenSince: (one: BegunAttempt) => number | undefined;
  /** When a task of a run was taken from its worker. */
  readonly movesOf: (one: BegunAttempt) => readonly number[];
  /** How many attempts Temporal knew of a run that went on in the database when that was restored. */
  readonly knownAtRestore: (run: Run) => number;
  /** Whether Temporal has a workflow of a run that has not ended, or had one that was forgotten. */
  readonly hadWorkflow: (run: Run) => boolean;
  /** Tells what was broken: the first that is counts. */
  readonly broken: (violation: Violation) => void;
};

/** Creates what watches that nothing unsafe happens, at the moment it would. */
export function createSafety(parts: SafetyParts): TableWatcher & {
  onPost(one: BegunAttempt, request: PostRequest): void;
  /** A workflow came to its end by itself. */
  onWorkflowEnd(run: Run): void;
  /** The core answers a claim of first attempts. */
  onClaimed(load: Load): void;
  /** A dispatcher takes an attempt for recorded. */
  onRecorded(key: AttemptKey): void;
  /** A dispatcher was stopped, and gave its attempts the time that they need. */
  onStopped(process: Process): void;
} {
  const { nowMs, attempts, tables } = parts;
  const broken = (rule: string, one: { deliveryId: string; run: number }, what: string) =>
    parts.broken(new Violation(rule, `${one.deliveryId} run ${one.run} ${what}`));

  function checkSchedule(one: BegunAttempt): void {
    if (one.attempt > MAX_ATTEMPTS) broken("eight attempts a run", one, `attempt ${one.attempt}`);
    if (one.attempt === 1) return;
    const before = attempts().of(one.deliveryId, one.run, one.attempt - 1);
    const ended = before.filter(({ outcome = "" }) => RETRIED.has(outcome));
    const dueMs = Math.min(
      ...ended.map(({ endedMs = Infinity }) => endedMs + (WAITS_MS[one.attempt - 2] ?? Infinity)),
    );
    if (nowMs() >= dueMs - ROUNDING_MS) return;
    broken("no attempt before its time", one, `attempt ${one.attempt}, due at ${dueMs}`);
  }

  function checkOnce(one: BegunAttempt): void {
    for (const other of attempts().of(one.deliveryId, one.run, one.attempt)) {
      if (other === one || other.postedMs === undefined) continue;
      if (other.process === one.process) {
        broken("one POST of an attempt by one process", one, `attempt ${one.attempt}`);
      }
      const died = other.process.killedAtMs() ?? Infinity;
      const isExcused =
        (died <= nowMs() && died >= other.beganMs) ||
        isLeaseOver(other, one.loadedAtMicros) ||
        isLeaseOver(one, parts.databaseMicros()) ||
        parts.movesOf(one).some((atMs) => atMs >= other.loadedAtMs && atMs <= nowMs());
      if (isExcused) continue;
      const both = `at ${other.postedMs} by ${other.process.name} and now by ${one.process.name}`;
      broken("one POST of an attempt", one, `attempt ${one.attempt} ${both}`);
    }
  }

  /** What only a process knew may be sent again behind a restore, under the same id. ADR 0045 */
  function checkRestored(one: BegunAttempt): void {
    const known = parts.knownAtRestore(one);
    if (one.attempt > known) return;
    broken("what Temporal knows is not sent again after a restore", one, `attempt ${one.attempt}`);
  }

  function checkAllowed(one: BegunAttempt): void {
    const since = parts.forbiddenSince(one);
    if (since === undefined) return;
    if (one.loadedAtMs <= since && nowMs() <= since + IN_FLIGHT_MS) return;
    broken("nothing is sent after an answer that forbids it", one, `forbidden at ${since}`);
  }

  /** What another process has recorded meanwhile has lost its lease, and does not count. */
  function checkInFlight(one: BegunAttempt): void {
    const isRetry = isOfWorkflow(one);
    const beside = [...attempts().inFlight()].filter(
      (other) =>
        other.process === one.process &&
        other.endpointId === one.endpointId &&
        isOfWorkflow(other) === isRetry &&
        !tables().attempts.has(`${other.deliveryId} ${other.run} ${other.attempt}`),
    );
    const most = isRetry ? RETRIES_AT_ENDPOINT : FIRSTS_AT_ENDPOINT;
    if (beside.length > most) broken("capacity of an endpoint", one, `${beside.length} in flight`);
  }

  /** A run goes on while its delivery says so. */
  function goesOn({ deliveryId, run }: Pick<Run, "deliveryId" | "run">): boolean {
    const row = tables().deliveries.get(deliveryId);
    return row !== undefined && row.run === run && RUNNING_STATES.includes(row.state);
  }

  /** The wait is counted from the end of the attempt, however late that is recorded. What is overdue is due at once. */
  function checkDue(row: DeliveryRow, { attempts: attempt, retryInMicros }: AfterAttempt): void {
    if (retryInMicros === undefined) return;
    const waitMs = WAITS_MS[attempt - 1] ?? 0;
    const dueMs = nowMs() + retryInMicros / 1000;
    const isRight = ({ endedMs = Infinity }: BegunAttempt) =>
      dueMs >= endedMs + waitMs - ROUNDING_MS &&
      dueMs <= Math.max(nowMs(), endedMs + waitMs + RECORD_TRAVELS_MS);
    const made = attempts().of(row.id, row.run, attempt);
    if (made.some(isRight)) return;
    const ends = made.map(({ endedMs }) => endedMs).join(", ");
    const named = { deliveryId: row.id, run: row.run };
    broken("a retry is due its wait after the end", named, `due at ${dueMs}, ended at ${ends}`);
  }

  function checkSignature(one: BegunAttempt, { headers, body }: PostRequest): void {
    const signed = createHmac("sha256", one.secret)
      .update(`${headers["Service-Timestamp"]}.${headers["Service-Event-Id"]}.`)
      .update(body)
      .digest("hex");
    const isSigned = headers["Service-Signature"] === `v1=${signed}`;
    if (isSigned && headers["Service-Attempt"] === String(one.attempt)) return;
    broken("signed with the secret of the moment", one, `attempt ${one.attempt}`);
  }

  return {
    onPost(one, request) {
      checkSchedule(one);
      checkOnce(one);
      checkRestored(one);
      checkAllowed(one);
      checkInFlight(one);
      checkSignature(one, request);
    },
    onState(row, before, next) {
      if (EDGES.has(edgeName(before, next))) return;
      const named = { deliveryId: row.id, run: row.run };
      broken("edges of ARCHITECTURE.md", named, edgeText(before, next));
    },
    onAttempt(stored) {
      const made = attempts().of(stored.deliveryId, stored.run, stored.attempt);
      if (isAsMade(stored, made)) return;
      broken("what is recorded is what the receiver saw", stored, `attempt ${stored.attempt}`);
    },
    onOutcome(row, after) {
      const named = { deliveryId: row.id, run: row.run };
      const stored = tables().attempts.get(`${row.id} ${row.run} ${after.attempts}`);
      const isNext = after.attempts > row.attempts;
      const isBetter = after.attempts === row.attempts && after.state === DeliveryState.Delivered;
      if (stored?.outcome !== after.outcome || !(isNext || isBetter)) {
        broken("a delivery shows the last attempt of its run", named, `attempt ${after.attempts}`);
      }
      checkDue(row, after);
    },
    onDelete(entry) {
      if (!goesOn(entry) || parts.hadWorkflow(entry)) return;
      broken("a run that goes on is in the outbox or in Temporal", entry, "has left the outbox");
    },
    onWorkflowEnd(run) {
      if (!goesOn(run) || tables().entries.get(run.deliveryId)?.run === run.run) return;
      broken("a run that goes on is in the outbox or in Temporal", run, "has left Temporal");
    },
    onClaimed(load) {
      const { leasedAtMicros = 0 } = load;
      if (nowMs() - parts.steppedAtMs() < CLOCK_IS_RIGHT_AFTER_MS) return;
      const age = parts.databaseMicros() - leasedAtMicros;
      if (age <= MAX_LEASE_AGE_MICROS + ROUNDING_MS * 1000) return;
      broken("a claim is answered while its lease is young", load, `it is ${age} us old`);
    },
    onRecorded(key) {
      if (tables().attempts.has(`${key.deliveryId} ${key.run} ${key.attempt}`)) return;
      broken("an attempt is kept until it is recorded", key, `attempt ${key.attempt}`);
    },
    onStopped(process) {
      for (const one of attempts().inFlight()) {
        if (one.process !== process || isOfWorkflow(one)) continue;
        broken("a stop waits for what is in flight", one, `attempt ${one.attempt}`);
      }
    },
  };
}

/** Whether a workflow makes an attempt: any but the first, and the first of a run that was restored. */
const isOfWorkflow = ({ leasedAtMicros }: Load) => leasedAtMicros === undefined;

/** Whether the lease of a first attempt was over by the database's clock, or that clock had stepped back behind it. */
function isLeaseOver({ leasedAtMicros }: BegunAttempt, atMicros: number): boolean {
  if (leasedAtMicros === undefined) return false;
  const leasedUntil = leasedAtMicros + LEASE_MICROS;
  return leasedUntil <= atMicros || leasedUntil > atMicros + LEASE_MICROS + CLOCK_STEP_MICROS;
}

function edgeText(before: DeliveryState | undefined, next: DeliveryState): string {
  return `from ${before ?? "none"} to ${next}`;
}
