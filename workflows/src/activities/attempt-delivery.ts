import {
  AttemptOutcome as Outcome,
  type ReadyAttempt,
  type RecordAttemptRequestSchema,
} from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, durationMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Sequence } from "../contract.ts";
import { AttemptOutcome, isRetried } from "../http/attempt-outcome.ts";
import { deliveryHeaders } from "../http/delivery-request.ts";
import type { AttemptReport } from "../http/sender.ts";
import { delayAfterMs } from "../workflows/retry-schedule.ts";
import type { ActivityDependencies, AttemptAnswer, AttemptInput } from "./index.ts";
import { loadWaitMs } from "./load-wait.ts";
import { untilAnswered } from "./until-answered.ts";

const OUTCOME_TO_PROTO = {
  [AttemptOutcome.Delivered]: Outcome.DELIVERED,
  [AttemptOutcome.AuthRejected]: Outcome.AUTH_REJECTED,
  [AttemptOutcome.RouteNotFound]: Outcome.ROUTE_NOT_FOUND,
  [AttemptOutcome.Redirected]: Outcome.REDIRECTED,
  [AttemptOutcome.ReceiverBusy]: Outcome.RECEIVER_BUSY,
  [AttemptOutcome.Rejected]: Outcome.REJECTED,
  [AttemptOutcome.DnsFailed]: Outcome.DNS_FAILED,
  [AttemptOutcome.Timeout]: Outcome.TIMEOUT,
  [AttemptOutcome.NetworkError]: Outcome.NETWORK_ERROR,
  [AttemptOutcome.UnsafeTarget]: Outcome.UNSAFE_TARGET,
} satisfies Record<AttemptOutcome, Outcome>;

const RETRIED: ReadonlySet<Outcome> = new Set(
  Object.values(AttemptOutcome)
    .filter(isRetried)
    .map((outcome) => OUTCOME_TO_PROTO[outcome]),
);

type Dispatch = ActivityDependencies["dispatch"];

const DONE: AttemptAnswer = { isRetried: false };

/**
 * Makes one attempt with the endpoint as it is now, and records its outcome; a repeated one is put off
 * while its endpoint is busy, any one while the core cannot load it. Run a second time after a crash, it
 * goes by the record, if there is one.
 *
 * A first attempt that the core could not load before needs a place like a repeated one: the claim, which let
 * it through long ago, no longer counts it.
 */
export async function attemptDelivery(
  dependencies: ActivityDependencies,
  { deliveryId, sequence: number, attempt, failedLoads = 0 }: AttemptInput,
): Promise<AttemptAnswer> {
  const { dispatch } = dependencies;
  const sequence = { deliveryId, sequence: number };
  const loaded = await load(dispatch, sequence, attempt);
  if (loaded === undefined) return putOffLoad(dispatch, sequence, attempt, failedLoads + 1);
  const { step, retryIn } = loaded;
  switch (step.case) {
    case "ready": {
      if (attempt === 1 && failedLoads === 0) {
        return makeAttempt(dependencies, step.value, sequence, attempt);
      }
      const place = dependencies.places.take(step.value.endpointId);
      if (place.kind === "full") return putOff(dispatch, sequence, attempt, place.askAgainInMs);
      return makeAttempt(dependencies, step.value, sequence, attempt).finally(place.leave);
    }
    case "recorded":
      return {
        ...answerFrom(step.value, attempt),
        ...(retryIn && { retryInMs: durationMs(retryIn) }),
      };
    case "canceled":
      await dispatch.cancelSequence({ sequence });
      return DONE;
    default:
      return DONE;
  }
}

/**
 * Returns `undefined` when the core says that it cannot, for instance because the key of the endpoint's secret is
 * missing; that is no matter of its being reached.
 */
async function load(dispatch: Dispatch, sequence: Sequence, attempt: number) {
  try {
    return await dispatch.loadAttempt({ sequence, attempt });
  } catch (error) {
    if (ConnectError.from(error).code === Code.Internal) return undefined;
    throw error;
  }
}

/** Not waited for here, where it would hold room of the worker, which others need. */
async function putOffLoad(
  dispatch: Dispatch,
  sequence: Sequence,
  attempt: number,
  failedLoads: number,
): Promise<AttemptAnswer> {
  const waitMs = loadWaitMs(failedLoads, Math.random());
  return { ...(await putOff(dispatch, sequence, attempt, waitMs)), failedLoads };
}

async function putOff(
  dispatch: Dispatch,
  sequence: Sequence,
  attempt: number,
  askAgainInMs: number,
): Promise<AttemptAnswer> {
  await dispatch.deferAttempt({ sequence, attempt, deferFor: durationFromMs(askAgainInMs) });
  return { isRetried: true, askAgainInMs };
}

async function makeAttempt(
  dependencies: ActivityDependencies,
  ready: ReadyAttempt,
  sequence: Sequence,
  attempt: number,
): Promise<AttemptAnswer> {
  const startedMs = dependencies.nowMs();
  const report = await post(dependencies, ready, attempt, startedMs);
  const retryInMs = report.isRetried ? delayAfterMs(attempt) : undefined;
  const record: MessageInitShape<typeof RecordAttemptRequestSchema> = {
    sequence,
    attempt,
    startedAt: timestampFromMs(startedMs),
    duration: durationFromMs(report.durationMs),
    outcome: OUTCOME_TO_PROTO[report.outcome],
    ...(report.status !== undefined && { statusCode: report.status }),
    ...(report.detail !== undefined && { detail: report.detail }),
    ...(report.bodyStart && { responseBody: report.bodyStart }),
    ...(retryInMs !== undefined && { retryIn: durationFromMs(retryInMs) }),
  };
  const { outcome } = await untilAnswered(() => dependencies.dispatch.recordAttempt(record));
  return answerFrom(outcome, attempt);
}

function post(
  { sender }: ActivityDependencies,
  { url, secret, eventId, payload, standardWebhooks }: ReadyAttempt,
  attempt: number,
  startedMs: number,
): Promise<AttemptReport> {
  const headers = deliveryHeaders({
    eventId,
    attempt,
    timestampSeconds: Math.floor(startedMs / 1000),
    body: payload,
    signingSecret: secret,
    standardWebhooks,
  });
  return sender.attempt({ url, headers, body: payload });
}

function answerFrom(outcome: Outcome, attempt: number): AttemptAnswer {
  return { isRetried: RETRIED.has(outcome) && delayAfterMs(attempt) !== undefined };
}
