import type {
  DispatchService,
  LoadAttemptResponseSchema,
  RecordAttemptRequest,
  SequenceKey,
} from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Duration, durationFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import { decryptSecret, type SecretKeys } from "../endpoint/secret-cipher.ts";
import { DomainError, ErrorCode } from "../errors.ts";
import { microsFromTimestamp } from "../timestamps.ts";
import { cancelSequence, deferAttempt, type LoadedAttempt } from "./attempt-store.ts";
import { createClaims } from "./claim-deliveries.ts";
import { deleteEntries, markHandedOver, releaseEntries, type Sequence } from "./claim-store.ts";
import { claimWithin } from "./claim-within.ts";
import { RUNNING_STATES } from "./delivery-state.ts";
import { createAttemptLoader } from "./load-attempts.ts";
import { createOutboxSignal, type OutboxSignal } from "./outbox-signal.ts";
import { createAttemptRecorder, type MadeAttempt } from "./record-attempts.ts";

/** Creates the service of the relay and the worker. */
export function createDispatchService(
  pool: Pool,
  secretKeys: SecretKeys,
  outbox: OutboxSignal,
): ServiceImpl<typeof DispatchService> {
  const claim = createClaims(pool);
  const load = createAttemptLoader(pool);
  const record = createAttemptRecorder(pool);
  const room = createOutboxSignal();

  return {
    async claimDeliveries({ limit, wait }, { signal }) {
      const look = () => claim(limit);
      const waitMs = wait && microsFromDuration(wait) / 1000;
      const entries = await claimWithin(look, { limit, waitMs }, { outbox, room }, signal);
      if (signal.aborted && entries.length > 0) {
        // Nobody hears of them: a relay that stops while it claims leaves them to the others at once.
        await releaseEntries(
          pool,
          entries.map(({ deliveryNo }) => deliveryNo),
        );
        outbox.notify();
        return {};
      }
      const lost = entries.flatMap(({ deliveryId, sequence, goOnFrom: attempt }) =>
        attempt === undefined ? [] : [{ sequence: { deliveryId, sequence }, attempt }],
      );
      return { sequences: entries.filter(({ goOnFrom }) => goOnFrom === undefined), lost };
    },

    async markHandedOver({ sequences }) {
      const keys = sequences.map(sequenceFrom);
      await inTransaction(pool, async (tx) => {
        await markHandedOver(tx, keys);
        await deleteEntries(tx, keys);
      });
      return {};
    },

    async loadAttempt({ sequence: key, attempt }) {
      const sequence = sequenceFrom(key);
      const loaded = await load({ ...sequence, attempt });
      const step = stepFrom(loaded, sequence.sequence, secretKeys);
      const { retryInMicros } = loaded ?? {};
      if (step.case !== "recorded" || retryInMicros === undefined) return { step };
      return { step, retryIn: durationFromMs(Math.ceil(retryInMicros / 1000)) };
    },

    async deferAttempt({ sequence: key, attempt, deferFor }) {
      const { deliveryId, sequence } = sequenceFrom(key);
      const deferMicros = microsFromDuration(deferFor ?? { seconds: 0n, nanos: 0 });
      await deferAttempt(pool, { deliveryId, sequence }, attempt, deferMicros);
      return {};
    },

    async recordAttempt(request) {
      const outcome = await record(attemptFrom(request));
      // Of first attempts alone there is a limit in the claim.
      if (request.attempt === 1) room.notify();
      return { outcome };
    },

    async cancelSequence({ sequence: key }) {
      const { deliveryId, sequence } = sequenceFrom(key);
      await inTransaction(pool, (tx) => cancelSequence(tx, deliveryId, sequence));
      return {};
    },
  };
}

type Step = NonNullable<MessageInitShape<typeof LoadAttemptResponseSchema>["step"]>;

/** What was recorded comes first: an attempt that was made is not made again, whatever changed since. */
function stepFrom(
  loaded: LoadedAttempt | undefined,
  sequence: number,
  secretKeys: SecretKeys,
): Step {
  if (loaded === undefined) return { case: "ended", value: {} };
  const { recordedOutcome, endpoint, endpointId, eventId, payload } = loaded;
  if (recordedOutcome !== undefined) return { case: "recorded", value: recordedOutcome };
  const isRunning = loaded.sequence === sequence && RUNNING_STATES.includes(loaded.state);
  if (!isRunning) return { case: "ended", value: {} };
  if (endpoint === undefined) return { case: "canceled", value: {} };
  const { url, standardWebhooks } = endpoint;
  const secret = decryptSecret(secretKeys, endpointId, endpoint.secret);
  return {
    case: "ready",
    value: { endpointId, url, secret, eventId, payload, standardWebhooks },
  };
}

function attemptFrom(request: RecordAttemptRequest): MadeAttempt {
  const { startedAt, duration, attempt, outcome, statusCode, detail, responseBody } = request;
  if (startedAt === undefined || duration === undefined) {
    throw new DomainError(ErrorCode.InvalidParameter, "started_at and duration are required.");
  }
  const { deliveryId, sequence } = sequenceFrom(request.sequence);
  return {
    deliveryId,
    sequence,
    attempt,
    startedAt: microsFromTimestamp(startedAt, "started_at"),
    durationMicros: microsFromDuration(duration),
    outcome,
    statusCode,
    detail,
    responseBody,
    retryInMicros: request.retryIn && microsFromDuration(request.retryIn),
  };
}

function sequenceFrom(key: SequenceKey | undefined): Sequence {
  if (key !== undefined) return key;
  throw new DomainError(ErrorCode.InvalidParameter, "sequence is required.");
}

function microsFromDuration({ seconds, nanos }: Pick<Duration, "seconds" | "nanos">): number {
  return Number(seconds) * 1e6 + Math.floor(nanos / 1000);
}
