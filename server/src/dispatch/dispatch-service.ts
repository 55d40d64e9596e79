import type {
  DispatchService,
  MadeAttempt as MadeAttemptMessage,
  PastAttempt as PastAttemptMessage,
  ReadyAttemptSchema,
  RunKey as RunKeyMessage,
} from "@activity/proto";
import type { Log } from "@activity/runtime/log";
import { type Metrics, NO_METRICS } from "@activity/runtime/metrics";
import { inSpan } from "@activity/runtime/traces";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Duration, durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { DomainError, ErrorCode } from "../common/errors.ts";
import { microsFromTimestamp } from "../common/timestamps.ts";
import { isConnectionLost } from "../database/outage.ts";
import { decryptSecret, type SecretKeys } from "../signing-secret/secret-cipher.ts";
import type { LoadedAttempt } from "./attempt-store.ts";
import { createClaims } from "./claim.ts";
import type { AttemptContent, PastAttempt } from "./claim-store.ts";
import type { DispatchStore } from "./dispatch-store.ts";
import { measureFirstAttempts } from "./first-attempt-delay.ts";
import type { Outbox } from "./outbox.ts";
import { type MadeAttempt, recordAttempts } from "./record-attempts.ts";
import type { RunKey } from "./run-key.ts";

/** Maximum endpoints in `undecrypted`. */
const MAX_UNDECRYPTED = 1_000;

/** Creates the service of the dispatcher and the workflows. */
export function createDispatchService({
  store,
  secretKeys,
  outbox,
  random,
  log,
  metrics = NO_METRICS,
}: {
  readonly store: DispatchStore;
  readonly secretKeys: SecretKeys;
  readonly outbox: Outbox;
  /** Returns a number from 0 to 1, which chooses whose entries are claimed first. */
  readonly random: () => number;
  readonly log: Log;
  readonly metrics?: Metrics;
}): ServiceImpl<typeof DispatchService> {
  const noteFirstAttempt = measureFirstAttempts(metrics);
  const countUnknown = metrics.counter(
    "activity_unknown_runs_total",
    "Runs that were ended without an attempt because the database does not hold them.",
    [],
  );
  const claims = createClaims({ store, outbox, log, random });

  /** Releases the entries of a caller that has gone away, so that others can claim them at once. */
  async function releaseIfGone<Entry extends RunKey & { readonly leaseId: string }>(
    entries: readonly Entry[],
    signal: AbortSignal,
    notify: () => void,
  ): Promise<readonly Entry[]> {
    const [first] = entries;
    if (!signal.aborted || first === undefined) return entries;
    await store.releaseEntries(entries, first.leaseId);
    notify();
    return [];
  }

  /** Runs `work` with a signal that aborts with the caller's signal or after `wait`. */
  async function within<Result>(
    wait: Duration,
    caller: AbortSignal,
    work: (over: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const over = new AbortController();
    const waitMs = Math.ceil(microsFromDuration(wait) / 1000);
    const cancel = outbox.timing.after(waitMs, () => over.abort());
    try {
      return await work(AbortSignal.any([caller, over.signal]));
    } finally {
      cancel();
    }
  }

  /**
   * Tells whether this database lacks a run that Temporal holds, as after a restore. Runs of a deleted account do not
   * count.
   */
  async function isUnknown(loaded: LoadedAttempt | undefined, { accountNo }: RunKey) {
    if (loaded !== undefined) return loaded.isAhead;
    return !(await store.isAccountDeleted(accountNo));
  }

  function noteUnknown(run: RunKey, attempt: number): void {
    countUnknown();
    log.warn("a run that this database does not hold was ended", {
      ...run,
      attempt,
    });
  }

  /** Endpoints whose undecryptable secret is already logged. */
  const undecrypted = new Set<string>();

  /** Returns `undefined` if the secret cannot be decrypted. A claimed entry stays leased and is claimed again later. */
  function readyOrLogged(content: AttemptContent) {
    const { endpointId } = content;
    try {
      const ready = readyFrom(content, secretKeys);
      undecrypted.delete(endpointId);
      return ready;
    } catch (cause) {
      if (undecrypted.has(endpointId)) return undefined;
      if (undecrypted.size >= MAX_UNDECRYPTED) undecrypted.clear();
      undecrypted.add(endpointId);
      // The log leaves out the cause's message, so the advice says what to do.
      const advice =
        "SECRET_KEYS lacks the secret's key, or the secret is damaged. Add the key, or replace the secret with RotateSecret.";
      log.error("the signing secret of an endpoint cannot be decrypted", {
        ...{ cause, endpointId, advice },
      });
      return undefined;
    }
  }

  return {
    async getInstallation() {
      return { id: await store.readInstallationId() };
    },

    async claimAttempts({ limit, endpointLimit, idle, wait, slowEndpointIds }, { signal }) {
      const { attempts: queue } = outbox;
      const poller = { limit, idle, slow: new Set(slowEndpointIds) };
      const look = () => claims.attempts(limit, endpointLimit);
      const claimed = wait
        ? await within(wait, signal, (over) => queue.claim(look, poller, over))
        : (await look()).entries;
      const entries = await releaseIfGone(claimed, signal, queue.notify);
      return {
        attempts: entries.flatMap((entry) => {
          const { traceparent: parent } = entry;
          const ready = inSpan("claim", { parent }, () => readyOrLogged(entry));
          return ready === undefined ? [] : [{ run: runToProto(entry), ready }];
        }),
      };
    },

    async claimRetries({ limit, wait }, { signal }) {
      const { retries: queue } = outbox;
      const poller = { limit, idle: false, slow: new Set<string>() };
      const look = () => claims.retries(limit);
      const claimed = wait
        ? await within(wait, signal, (over) => queue.claim(look, poller, over))
        : (await look()).entries;
      const entries = await releaseIfGone(claimed, signal, queue.notify);
      return {
        retries: entries.map((entry) => ({
          run: runToProto(entry),
          attempts: entry.attempts.map(pastToProto),
          dueIn: durationFromMicros(entry.dueInMicros),
        })),
      };
    },

    async completeRetries({ runs }) {
      await store.change({ deleted: runs.map(runFromProto) });
      return {};
    },

    async loadAttempt({ run: key, attempt }) {
      const run = runFromProto(required(key, "run"));
      const loaded = await store.findAttempt(run, attempt);
      if (loaded?.recorded !== undefined) {
        const { recorded, retryInMicros } = loaded;
        return {
          step: { case: "recorded", value: pastToProto(recorded) },
          ...(retryInMicros !== undefined && { retryIn: durationFromMicros(retryInMicros) }),
        };
      }
      if (!loaded?.isRunning) {
        const unknown = await isUnknown(loaded, run);
        if (unknown) noteUnknown(run, attempt);
        return { step: { case: "ended", value: { unknown } } };
      }
      if (loaded.content !== undefined) {
        const ready = readyOrLogged(loaded.content);
        if (ready === undefined) throw undecryptedSecret();
        return { step: { case: "ready", value: ready } };
      }
      await store.change({ canceled: [run], deleted: [run] });
      return { step: { case: "ended", value: {} } };
    },

    async rescheduleAttempt({ run, attempt, wait }) {
      const waitMicros = microsFromDuration(required(wait, "wait"));
      await store.rescheduleAttempt(runFromProto(required(run, "run")), attempt, waitMicros);
      return {};
    },

    async recordAttempts({ attempts }) {
      const made = attempts.map(attemptFromProto);
      const recorded = await recordAttempts(store, made).catch((error) => {
        if (isConnectionLost(error)) claims.noteOutage();
        throw error;
      });
      const { busy, hasStored, hasRetries, endpointIds, failure } = recorded;
      outbox.attempts.notifyCapacity(endpointIds);
      if (hasStored) claims.noteWritten();
      if (hasRetries) outbox.retries.notify();
      // Rejects, so that the caller sends each attempt again, alone.
      if (failure !== undefined) throw failure;
      for (const [index, attempt] of made.entries()) {
        if (!busy.includes(index)) noteFirstAttempt(attempt);
      }
      return { busy: [...busy] };
    },
  };
}

function readyFrom(
  { endpointId, url, secret, eventId, payload, standardWebhooks, traceparent = "" }: AttemptContent,
  secretKeys: SecretKeys,
): MessageInitShape<typeof ReadyAttemptSchema> {
  const signingSecret = decryptSecret(secretKeys, endpointId, secret);
  return {
    ...{ endpointId, url, secret: signingSecret, eventId, payload, standardWebhooks },
    traceparent,
  };
}

function pastToProto({ outcome, endedAt }: PastAttempt) {
  return { outcome, endedAt: timestampFromMs(Math.round(endedAt / 1000)) };
}

function pastFromProto({ outcome, endedAt }: PastAttemptMessage): PastAttempt {
  return {
    outcome,
    endedAt: Number(microsFromTimestamp(required(endedAt, "ended_at"), "ended_at")),
  };
}

function runToProto({ accountNo, deliveryId, run }: RunKey) {
  return { accountNo: BigInt(accountNo), deliveryId, run };
}

function runFromProto({ accountNo, deliveryId, run }: RunKeyMessage): RunKey {
  return { accountNo: Number(accountNo), deliveryId, run };
}

function attemptFromProto(made: MadeAttemptMessage): MadeAttempt {
  const { attempt, outcome, statusCode, detail, responseHeaders, responseBody } = made;
  return {
    ...runFromProto(required(made.run, "run")),
    ...{ attempt, outcome, statusCode, detail, responseHeaders, responseBody },
    startedAt: microsFromTimestamp(required(made.startedAt, "started_at"), "started_at"),
    durationMicros: microsFromDuration(required(made.duration, "duration")),
    retryInMicros: made.retryIn && microsFromDuration(made.retryIn),
    before: made.before.map(pastFromProto),
  };
}

function required<Value>(value: Value | undefined, field: string): Value {
  if (value !== undefined) return value;
  throw new DomainError(ErrorCode.InvalidParameter, `${field} is required.`);
}

/** Rounds up to the millisecond, so that nothing is due too early. */
function durationFromMicros(micros: number): Duration {
  return durationFromMs(Math.ceil(micros / 1000));
}

function microsFromDuration({ seconds, nanos }: Pick<Duration, "seconds" | "nanos">): number {
  return Number(seconds) * 1e6 + Math.floor(nanos / 1000);
}

/**
 * The error is temporary, because an operator can restore the key that SECRET_KEYS lacks, or replace a damaged secret.
 */
function undecryptedSecret(): DomainError {
  return new DomainError(
    ErrorCode.TemporarilyUnavailable,
    "The endpoint's signing secret cannot be decrypted: SECRET_KEYS lacks its key, or the secret is damaged.",
  );
}
