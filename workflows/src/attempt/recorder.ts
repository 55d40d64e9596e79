import type { DispatchService, MadeAttemptSchema } from "@activity/proto";
import type { Log } from "@activity/runtime/log";
import { type Timing, wait } from "@activity/runtime/timing";
import { together } from "@activity/runtime/traces";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Client, Code, ConnectError } from "@connectrpc/connect";
import { fieldsOfFailure } from "../common/failure.ts";
import { type AttemptKey, attemptName } from "../common/run.ts";
import { type AttemptOutcome, isRetried } from "../http/attempt-outcome.ts";
import type { FinishedAttempt } from "./make-attempt.ts";
import { outcomeToProto } from "./outcome.ts";
import { delayAfterMs } from "./retry-schedule.ts";
import { runToProto } from "./run-key.ts";

/** The most attempts of one call, which is one transaction of the core. */
const MAX_BATCH = 128;
/**
 * Each successful call raises the limit of the next one's attempts by this number. After a failed call, the next one
 * has half as many attempts, because a slow database can record only few in time.
 */
const BATCH_STEP = 8;
/** The time limit of one call. Two calls then fit into the lease of an attempt that took up to five seconds. */
const ANSWER_WITHIN_MS = 4_000;
const PAUSE_MS = 250;
/** The longest wait before a refused attempt is sent again. The first wait is `PAUSE_MS`. Each refusal doubles it. */
const MAX_REFUSED_MS = 60_000;
/**
 * The longest duration that the core accepts. An attempt ends within ten seconds, but its process can be frozen
 * meanwhile.
 */
const MAX_DURATION_MS = 3_600_000;
/** Failures that a single attempt of the call may have caused. All others are outages. */
const REFUSED: ReadonlySet<Code> = new Set([Code.InvalidArgument, Code.Internal, Code.Unknown]);

/** Keeps made attempts until the core has recorded them. */
export type Recorder = {
  /**
   * Resolves once the attempt is recorded. `before` holds the earlier attempts of the run: the core records those that
   * a restored database has lost. `endedAgoMs`, the time since the attempt's end, is more than 0 when another process
   * made the attempt. Rejects only when the recorder is closed: an attempt that is dropped would be made again.
   */
  record(
    key: AttemptKey,
    attempt: FinishedAttempt,
    before?: readonly PastAttempt[],
    endedAgoMs?: number,
  ): Promise<void>;
  /** Resolves when no attempt waits for the end of an outage. It does not wait for attempts that the core refuses. */
  caughtUp(): Promise<void>;
  /** Gives waiting attempts this time to be recorded. Rejects those that are left then or come later. */
  close(milliseconds: number): Promise<void>;
};

/** The part of a made attempt that the next one needs. */
export type PastAttempt = { readonly outcome: AttemptOutcome; readonly endedAtMs: number };

type Waiting = {
  readonly key: AttemptKey;
  readonly attempt: FinishedAttempt;
  readonly before: readonly PastAttempt[];
  readonly endedAt: number;
  readonly recorded: PromiseWithResolvers<void>;
  /**
   * Set once the core refused a call that contained this attempt, or did not answer a small one in time. The attempt is
   * then sent alone.
   */
  isSuspect: boolean;
  /** The most attempts of a call that contains this attempt. The limit is low once such a call was late. */
  batchLimit: number;
  /** How often the core refused this attempt alone. */
  refusals: number;
  /** When the attempt may be sent, by the monotonic clock. */
  sendAtMs: number;
};

/** Creates a recorder. Attempts that end while a call is in flight share the next one. */
export function createRecorder(
  dispatch: Client<typeof DispatchService>,
  log: Log,
  timing: Timing,
): Recorder {
  const { nowMs } = timing;
  /** The attempts that are not recorded yet, by `attemptName`, in sending order. */
  const waiting = new Map<string, Waiting>();
  const closing = new AbortController();
  let running: Promise<void> | undefined;
  let batchLimit = MAX_BATCH;
  /**
   * Set during an outage. `left` holds the attempts that waited when the last call failed, until the core answers them.
   * Attempts that the core refused alone are not in it.
   */
  let outage: { readonly over: PromiseWithResolvers<void>; left: Set<string> } | undefined;

  async function sendAll(): Promise<void> {
    while (waiting.size > 0 && !closing.signal.aborted) {
      const batch = nextBatch();
      if (batch.length === 0) {
        await pause();
        continue;
      }
      // This call may be late because of a doubted attempt. So all doubted attempts first move to the end, and all
      // others are sent before the next doubted one.
      if (batch.some(isDoubted))
        for (const one of [...waiting.values()]) if (isDoubted(one)) sendBehind(one);
      try {
        await send(batch);
        batchLimit = Math.min(MAX_BATCH, batchLimit + BATCH_STEP);
        for (const { key } of batch) outage?.left.delete(attemptName(key));
        // Ends the outage. Claims wait for its end: during it, a claim could return waiting attempts again, because
        // their leases may be over.
        if (outage?.left.size === 0) endOutage();
      } catch (cause) {
        if (closing.signal.aborted) break;
        if (outage === undefined) {
          log.error("attempts wait to be recorded", {
            ...fieldsOfFailure(cause),
            attempts: waiting.size,
          });
        }
        batchLimit = Math.ceil(batch.length / 2);
        beginOutage();
        // After a late call, its attempts go in small calls, and later alone. So an attempt whose calls are always
        // late, for example because of a lock, does not delay the others.
        const isLate = ConnectError.from(cause).code === Code.DeadlineExceeded;
        for (const one of batch) {
          if (isLate) one.isSuspect ||= batch.length <= BATCH_STEP;
          if (isLate) one.batchLimit = BATCH_STEP;
          sendBehind(one);
        }
        await pause();
      }
    }
    running = undefined;
  }

  /**
   * Begins an outage, or lists its attempts again. Leaves out refused attempts: each may wait for a minute, and
   * `caughtUp` must not wait for it.
   */
  function beginOutage(): void {
    const names = [...waiting].filter(([, one]) => one.refusals === 0).map(([name]) => name);
    const over = outage?.over ?? Promise.withResolvers<void>();
    outage = { over, left: new Set(names) };
    if (names.length === 0) endOutage();
  }

  function endOutage(): void {
    outage?.over.resolve();
    outage = undefined;
  }

  /**
   * Returns at most one attempt of each delivery, or one suspect that is due. Returns nothing if no attempt may be
   * sent.
   */
  function nextBatch(): Waiting[] {
    let limit = batchLimit;
    const batch = new Map<string, Waiting>();
    for (const one of waiting.values()) {
      if (one.isSuspect) {
        if (batch.size === 0 && one.sendAtMs <= nowMs()) return [one];
        continue;
      }
      if (batch.size >= one.batchLimit) continue;
      limit = Math.min(limit, one.batchLimit);
      const { deliveryId } = one.key;
      if (!batch.has(deliveryId)) batch.set(deliveryId, one);
      if (batch.size >= limit) break;
    }
    return [...batch.values()];
  }

  async function send(batch: readonly Waiting[]): Promise<void> {
    const attempts = batch.map((one) => messageFrom(one, nowMs()));
    const spans = batch.map(({ attempt: { traceparent } }) =>
      traceparent === undefined ? undefined : { traceparent },
    );
    const call = together("record", spans, () =>
      dispatch.recordAttempts(
        { attempts },
        { timeoutMs: ANSWER_WITHIN_MS, signal: closing.signal },
      ),
    );
    const busy = await call.then(
      (answer) => new Set(answer.busy),
      (error: unknown) => suspect(batch, error),
    );
    if (busy === undefined) return;
    for (const [place, one] of batch.entries()) {
      if (busy.has(place)) {
        // Another write holds the attempt's delivery, so the attempt is sent again.
        sendBehind(one);
      } else {
        waiting.delete(attemptName(one.key));
        one.recorded.resolve();
      }
    }
    if (busy.size === batch.length) await pause();
  }

  /**
   * Marks each attempt of a refused call to be sent alone. An attempt that was sent alone goes behind the others, and
   * waits longer after each refusal.
   */
  function suspect(batch: readonly Waiting[], cause: unknown): undefined {
    if (!REFUSED.has(ConnectError.from(cause).code)) throw cause;
    const [one] = batch;
    if (batch.length === 1 && one !== undefined) {
      if (one.refusals === 0)
        log.error("the core refuses to record an attempt", { cause, ...one.key });
      one.sendAtMs = nowMs() + Math.min(MAX_REFUSED_MS, PAUSE_MS * 2 ** one.refusals);
      one.refusals += 1;
      sendBehind(one);
    }
    for (const each of batch) each.isSuspect = true;
  }

  function sendBehind(one: Waiting): void {
    waiting.delete(attemptName(one.key));
    waiting.set(attemptName(one.key), one);
  }

  function pause(): Promise<void> {
    return wait(timing, PAUSE_MS, closing.signal);
  }

  /**
   * Aborts the call in flight and rejects all waiting callers: a worker ends only after its activities, which wait
   * here.
   */
  function giveUp(): void {
    closing.abort(new Error("the core had not recorded it when the process ended"));
    for (const { recorded } of waiting.values()) recorded.reject(closing.signal.reason);
    waiting.clear();
  }

  return {
    record(key, attempt, before = [], endedAgoMs = 0) {
      if (closing.signal.aborted) return Promise.reject(closing.signal.reason);
      const name = attemptName(key);
      const same = waiting.get(name);
      if (same !== undefined) return same.recorded.promise;
      const recorded = Promise.withResolvers<void>();
      const endedAt = nowMs() - endedAgoMs;
      const unsent = { isSuspect: false, batchLimit: MAX_BATCH, refusals: 0, sendAtMs: 0 };
      waiting.set(name, { key, attempt, before, endedAt, recorded, ...unsent });
      running ??= sendAll();
      return recorded.promise;
    },
    caughtUp: () => outage?.over.promise ?? Promise.resolve(),
    async close(milliseconds) {
      const cancel = timing.after(milliseconds, giveUp);
      for (const one of waiting.values()) one.sendAtMs = 0;
      await running;
      cancel();
      giveUp();
    },
  };
}

/** Tells whether a call with this attempt was refused or late. */
function isDoubted({ isSuspect, batchLimit }: Waiting): boolean {
  return isSuspect || batchLimit < MAX_BATCH;
}

function messageFrom(
  { key, attempt, before, endedAt }: Waiting,
  nowMs: number,
): MessageInitShape<typeof MadeAttemptSchema> {
  const { outcome, status, detail, headers, bodyStart } = attempt;
  const delayMs = isRetried(outcome) ? delayAfterMs(key.attempt) : undefined;
  return {
    run: runToProto(key),
    attempt: key.attempt,
    startedAt: timestampFromMs(attempt.startedAtMs),
    duration: durationFromMs(Math.min(attempt.durationMs, MAX_DURATION_MS)),
    outcome: outcomeToProto(outcome),
    ...(status !== undefined && { statusCode: status }),
    ...(detail !== undefined && { detail }),
    ...(headers && { responseHeaders: headers }),
    ...(bodyStart && { responseBody: bodyStart }),
    before: before.map((past) => ({
      outcome: outcomeToProto(past.outcome),
      endedAt: timestampFromMs(past.endedAtMs),
    })),
    // The delay runs from the end of the attempt, however late it is recorded. §6.4
    ...(delayMs !== undefined && {
      retryIn: durationFromMs(Math.max(0, Math.round(delayMs - (nowMs - endedAt)))),
    }),
  };
}
