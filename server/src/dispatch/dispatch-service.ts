import type {
  DispatchService,
  MadeAttempt as MadeAttemptMessage,
  ReadyAttemptSchema,
  RunKey as RunKeyMessage,
} from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Duration, durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Packets } from "../database/packet.ts";
import type { Pool } from "../database/pool.ts";
import { DomainError, ErrorCode } from "../errors.ts";
import type { Log } from "../log.ts";
import { decryptSecret, type SecretKeys } from "../signing-secret/secret-cipher.ts";
import { microsFromTimestamp } from "../timestamps.ts";
import { findAttempt, rescheduleAttempt } from "./attempt-store.ts";
import { createClaims } from "./claim.ts";
import {
  type AttemptContent,
  cancelRuns,
  deleteEntries,
  type PastAttempt,
  releaseEntries,
} from "./claim-store.ts";
import { readInstallationId } from "./installation-store.ts";
import type { Outbox } from "./outbox.ts";
import { type MadeAttempt, recordAttempts } from "./record-attempts.ts";
import type { RunKey } from "./run-key.ts";

/** Creates the service of the dispatcher and the workflows. */
export function createDispatchService({
  pool,
  packets,
  secretKeys,
  outbox,
  log,
}: {
  readonly pool: Pool;
  /** Connections of their own: what waits for an account's lock keeps no attempt from being recorded. */
  readonly packets: Packets;
  readonly secretKeys: SecretKeys;
  readonly outbox: Outbox;
  readonly log: Log;
}): ServiceImpl<typeof DispatchService> {
  const claims = createClaims(pool, packets, Math.random);

  /** Nobody hears of what was claimed for a caller that is gone: it is left to the others at once. */
  async function unlessGone<Entry extends RunKey & { readonly leaseId: string }>(
    entries: readonly Entry[],
    signal: AbortSignal,
    notify: () => void,
  ): Promise<readonly Entry[]> {
    const [first] = entries;
    if (!signal.aborted || first === undefined) return entries;
    await releaseEntries(pool, entries, first.leaseId);
    notify();
    return [];
  }

  /** Without its secret an attempt cannot be made: its entry stays leased, and is claimed again later. */
  function readyOrLogged(content: AttemptContent) {
    try {
      return readyFrom(content, secretKeys);
    } catch (cause) {
      log.error("the signing secret of an endpoint cannot be decrypted", {
        cause,
        endpointId: content.endpointId,
      });
      return undefined;
    }
  }

  return {
    async getInstallation() {
      return { id: await readInstallationId(pool) };
    },

    async claimAttempts({ limit, endpointLimit, idle, wait }, { signal }) {
      const { attempts: queue } = outbox;
      const look = () => claims.attempts(limit, endpointLimit);
      const claimed = wait
        ? await queue.claim(look, { limit, idle }, orAfter(signal, wait))
        : (await look()).entries;
      const entries = await unlessGone(claimed, signal, queue.notify);
      return {
        attempts: entries.flatMap((entry) => {
          const ready = readyOrLogged(entry);
          return ready === undefined ? [] : [{ run: runToProto(entry), ready }];
        }),
      };
    },

    async claimRetries({ limit, wait }, { signal }) {
      const { retries: queue } = outbox;
      const look = () => claims.retries(limit);
      const claimed = wait
        ? await queue.claim(look, { limit, idle: false }, orAfter(signal, wait))
        : (await look()).entries;
      const entries = await unlessGone(claimed, signal, queue.notify);
      return {
        retries: entries.map((entry) => ({
          run: runToProto(entry),
          attempts: entry.attempts.map(pastToProto),
          dueIn: durationFromMicros(entry.dueInMicros),
        })),
      };
    },

    async completeRetries({ runs }) {
      await packets.run([deleteEntries(runs.map(runFromProto))]);
      return {};
    },

    async loadAttempt({ run: key, attempt }) {
      const run = runFromProto(required(key, "run"));
      const loaded = await findAttempt(pool, run, attempt);
      if (loaded?.recorded !== undefined) {
        const { recorded, retryInMicros } = loaded;
        return {
          step: { case: "recorded", value: pastToProto(recorded) },
          ...(retryInMicros !== undefined && { retryIn: durationFromMicros(retryInMicros) }),
        };
      }
      if (!loaded?.isRunning) return { step: { case: "ended", value: {} } };
      if (loaded.content !== undefined) {
        return { step: { case: "ready", value: readyFrom(loaded.content, secretKeys) } };
      }
      await packets.run([cancelRuns([run]), deleteEntries([run])]);
      return { step: { case: "ended", value: {} } };
    },

    async rescheduleAttempt({ run, attempt, wait }) {
      const waitMicros = microsFromDuration(required(wait, "wait"));
      await rescheduleAttempt(pool, runFromProto(required(run, "run")), attempt, waitMicros);
      return {};
    },

    async recordAttempts({ attempts }) {
      const { busy, hasRetries } = await recordAttempts(
        pool,
        packets,
        attempts.map(attemptFromProto),
      );
      outbox.attempts.notifyCapacity();
      if (hasRetries) outbox.retries.notify();
      return { busy: [...busy] };
    },
  };
}

/** A signal that is aborted with the caller's, or after a wait. */
function orAfter(caller: AbortSignal, wait: Duration): AbortSignal {
  return AbortSignal.any([caller, AbortSignal.timeout(Math.ceil(microsFromDuration(wait) / 1000))]);
}

function readyFrom(
  { endpointId, url, secret, eventId, payload, standardWebhooks }: AttemptContent,
  secretKeys: SecretKeys,
): MessageInitShape<typeof ReadyAttemptSchema> {
  const signingSecret = decryptSecret(secretKeys, endpointId, secret);
  return { endpointId, url, secret: signingSecret, eventId, payload, standardWebhooks };
}

function pastToProto({ outcome, endedAt }: PastAttempt) {
  return { outcome, endedAt: timestampFromMs(Math.round(endedAt / 1000)) };
}

function runToProto({ accountNo, deliveryId, run }: RunKey) {
  return { accountNo: BigInt(accountNo), deliveryId, run };
}

function runFromProto({ accountNo, deliveryId, run }: RunKeyMessage): RunKey {
  return { accountNo: Number(accountNo), deliveryId, run };
}

function attemptFromProto(made: MadeAttemptMessage): MadeAttempt {
  const { attempt, outcome, statusCode, detail, responseBody } = made;
  return {
    ...runFromProto(required(made.run, "run")),
    ...{ attempt, outcome, statusCode, detail, responseBody },
    startedAt: microsFromTimestamp(required(made.startedAt, "started_at"), "started_at"),
    durationMicros: microsFromDuration(required(made.duration, "duration")),
    retryInMicros: made.retryIn && microsFromDuration(made.retryIn),
  };
}

function required<Value>(value: Value | undefined, field: string): Value {
  if (value !== undefined) return value;
  throw new DomainError(ErrorCode.InvalidParameter, `${field} is required.`);
}

/** To the millisecond, rounded up: nothing is due too early. */
function durationFromMicros(micros: number): Duration {
  return durationFromMs(Math.ceil(micros / 1000));
}

function microsFromDuration({ seconds, nanos }: Pick<Duration, "seconds" | "nanos">): number {
  return Number(seconds) * 1e6 + Math.floor(nanos / 1000);
}
