import type {
  AttemptSchema,
  CountRetriableDeliveriesRequest,
  DeliveryDonationSchema,
  DeliverySchema,
  DeliveryService,
  ListDeliveriesRequest,
  RetryFailedDeliveriesRequest,
} from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { readAccount } from "../account/account-store.ts";
import { auditNowKey } from "../common/audit-now.ts";
import { DomainError, ErrorCode } from "../common/errors.ts";
import {
  durationFromMicros,
  microsFromTimestamp,
  requiredMicros,
  timestampFromMicros,
} from "../common/timestamps.ts";
import type { Pool } from "../database/pool.ts";
import { DeliveryState, retriableStates } from "../dispatch/delivery-state.ts";
import type { Outbox } from "../dispatch/outbox.ts";
import {
  accountBlocked,
  endpointDeleted,
  endpointSwitchedOff,
} from "../endpoint/endpoint-errors.ts";
import { endpointsOf } from "../endpoint/endpoint-store.ts";
import type { Writer } from "../write/writer.ts";
import { beginNextRuns } from "./begin-runs.ts";
import { type DeliveryFilter, listDeliveries } from "./delivery-list-store.ts";
import {
  type AttemptRecord,
  type DeliveryRecord,
  deliveriesBy,
  findDelivery,
  findPayload,
  listLastAttempts,
} from "./delivery-store.ts";
import { listOf, pageTokenFrom, parsePageToken } from "./page-token.ts";
import { countRetriable, type Ended, type Position, retryFailed } from "./retry-failed.ts";
import { listDonationsOf, type ToldDonation } from "./told-donation-store.ts";

const PAGE_SIZE = 50;
/** Maximum attempts shown of one delivery. An owner may retry it any number of times. */
const MAX_ATTEMPTS = 200;

/** Creates the service that shows and retries deliveries. §6.4 */
export function createDeliveryService(
  pool: Pool,
  writer: Writer,
  outbox: Outbox,
): ServiceImpl<typeof DeliveryService> {
  return {
    async listDeliveries(request) {
      const { accountNo } = await readAccount(pool, request.accountId);
      const filter = filterFrom(request);
      const after = parsePageToken(request.accountId, listOf(filter), request.pageToken);
      const pageSize = request.pageSize ?? PAGE_SIZE;
      // Reads one more than requested, to know whether another page exists.
      const found = await listDeliveries(pool, accountNo, filter, after, pageSize + 1);
      const page = found.slice(0, pageSize);
      const last = page.at(-1);
      const hasMore = found.length > pageSize && last !== undefined;
      const donations = await listDonationsOf(pool, accountNo, page);
      return {
        deliveries: page.map((each) => deliveryToProto(each, donations.get(each.eventId))),
        nextPageToken: hasMore ? pageTokenFrom(request.accountId, listOf(filter), last.id) : "",
      };
    },

    async getDelivery({ accountId, deliveryId }) {
      const { accountNo } = await readAccount(pool, accountId);
      const delivery = await findDelivery(pool, accountNo, deliveryId);
      if (delivery === undefined) throw deliveryNotFound();
      const attempts = await listLastAttempts(pool, accountNo, deliveryId, MAX_ATTEMPTS);
      const payload = await findPayload(pool, accountNo, delivery.eventId);
      // Without its event, the delivery counts as removed: a job is removing both because of their age.
      if (payload === undefined) throw deliveryNotFound();
      const donations = await listDonationsOf(pool, accountNo, [delivery]);
      return {
        delivery: deliveryToProto(delivery, donations.get(delivery.eventId)),
        attempts: attempts.map(attemptToProto),
        payload,
      };
    },

    async retryDelivery({ accountId, deliveryId, includeDelivered, includeRetrying }) {
      const delivery = await writer.write({
        accountId,
        load: (accountNo) => ({
          delivery: deliveriesBy([accountNo, deliveryId]),
          endpoints: endpointsOf([accountNo]),
        }),
        decide({ delivery: [stored], endpoints }, account) {
          if (stored === undefined) throw deliveryNotFound();
          // Checks this before the state, because no option sends an erased delivery again.
          if (stored.isErased) throw deliveryErased();
          const isDelivered = stored.state === DeliveryState.Delivered;
          if (isDelivered && !includeDelivered) throw alreadyDelivered();
          const endpoint = endpoints.find(({ id }) => id === stored.endpointId);
          if (endpoint === undefined) throw endpointDeleted();
          if (!endpoint.switchedOn) throw endpointSwitchedOff();
          if (account.blocked) throw accountBlocked();
          const states = retriableStates({ includeDelivered, includeRetrying });
          if (!states.includes(stored.state)) return { answer: stored };
          return { answer: inNextRun(stored), changes: beginNextRuns(account, [stored]) };
        },
      });
      outbox.attempts.notify();
      return { delivery: deliveryToProto(delivery) };
    },

    async countRetriableDeliveries(request) {
      const { accountNo } = await readAccount(pool, request.accountId);
      const { count, hasMore } = await countRetriable(pool, accountNo, endedFrom(request));
      return { count: BigInt(count), hasMore };
    },

    async retryFailedDeliveries(request, { signal, values }) {
      const { accountId, pageSize, pageToken } = request;
      // Calls with a token have no rate limit, so they need a page size. Without one, a call would begin all parts.
      if (pageToken !== "" && pageSize === undefined) throw pageSizeMissing();
      const ended = endedFrom(request);
      const list = retryOf(ended);
      const from = positionFrom(parsePageToken(accountId, list, pageToken));
      const part = { from, limit: pageSize };
      const onBegun = () => {
        outbox.attempts.notify();
        // Logs the retry now: the other parts may take minutes and can fail. The audit log must not lose it.
        values.get(auditNowKey)();
      };
      const { retried, next } = await retryFailed(pool, writer, onBegun, ended, part, signal);
      const position = next && `${next.endpointId}${next.after}`;
      return {
        retried: BigInt(retried),
        nextPageToken: position ? pageTokenFrom(accountId, list, position) : "",
      };
    },
  };
}

/** Returns a delivery as it is in its next run. */
function inNextRun(ended: DeliveryRecord): DeliveryRecord {
  const none = { attempts: 0, lastOutcome: undefined, nextAttemptAt: undefined };
  return { ...ended, ...none, state: DeliveryState.Pending, run: ended.run + 1 };
}

function filterFrom(request: ListDeliveriesRequest): DeliveryFilter {
  const { endpointId, state, kind, lastOutcome, eventId, recordId, since, until } = request;
  return {
    endpointId: endpointId || undefined,
    state: state || undefined,
    kind: kind || undefined,
    lastOutcome: lastOutcome || undefined,
    eventId: eventId || undefined,
    recordId: recordId || undefined,
    since: since && microsFromTimestamp(since, "since"),
    until: until && microsFromTimestamp(until, "until"),
  };
}

function endedFrom(request: CountRetriableDeliveriesRequest | RetryFailedDeliveriesRequest): Ended {
  const { accountId, endpointId, since, until, includeDelivered, kind, lastOutcome } = request;
  const range = {
    since: requiredMicros(since, "since"),
    until: requiredMicros(until, "until"),
  };
  return {
    ...{ accountId, endpointId: endpointId || undefined, range, includeDelivered },
    ...{ kind: kind || undefined, lastOutcome: lastOutcome || undefined },
  };
}

/** Names a bulk retry, for its page tokens. No list has the same name. */
function retryOf(ended: Ended): string {
  const { endpointId = "", range, includeDelivered, kind = "", lastOutcome = "" } = ended;
  const times = `${range.since}/${range.until}`;
  return `retry/${endpointId}/${times}/${includeDelivered}/${kind}/${lastOutcome}`;
}

const ID_LENGTH = 15;

function positionFrom(text: string | undefined): Position | undefined {
  if (text === undefined) return undefined;
  return { endpointId: text.slice(0, ID_LENGTH), after: text.slice(ID_LENGTH) };
}

function pageSizeMissing(): DomainError {
  return new DomainError(
    ErrorCode.InvalidParameter,
    "page_token needs a page_size. Send the page_size of the previous call.",
  );
}

function deliveryNotFound(): DomainError {
  return new DomainError(
    ErrorCode.DeliveryNotFound,
    "The account has no delivery with this delivery_id.",
  );
}

function alreadyDelivered(): DomainError {
  return new DomainError(
    ErrorCode.DeliveryAlreadyDelivered,
    "The delivery succeeded. Set include_delivered to send it again.",
  );
}

function deliveryErased(): DomainError {
  return new DomainError(
    ErrorCode.DeliveryErased,
    "The donation of this delivery was deleted, so it cannot be sent.",
  );
}

function deliveryToProto(
  delivery: DeliveryRecord,
  told?: ToldDonation,
): MessageInitShape<typeof DeliverySchema> {
  const { nextAttemptAt } = delivery;
  return {
    id: delivery.id,
    endpointId: delivery.endpointId,
    eventId: delivery.eventId,
    kind: delivery.kind,
    test: delivery.test,
    state: delivery.state,
    run: delivery.run,
    attempts: delivery.attempts,
    ...(delivery.lastOutcome !== undefined && { lastOutcome: delivery.lastOutcome }),
    createdAt: timestampFromMicros(delivery.createdAt),
    ...(nextAttemptAt !== undefined && { nextAttemptAt: timestampFromMicros(nextAttemptAt) }),
    ...(told && { donation: donationToProto(told) }),
  };
}

function donationToProto(told: ToldDonation): MessageInitShape<typeof DeliveryDonationSchema> {
  const { recordId, recordedAt, donorName, amountCents, currency } = told;
  return {
    ...{ recordId, recordedAt: timestampFromMicros(recordedAt) },
    ...(donorName !== undefined && { donorName }),
    ...{ amountCents: BigInt(amountCents), currency },
  };
}

function attemptToProto(attempt: AttemptRecord): MessageInitShape<typeof AttemptSchema> {
  return {
    run: attempt.run,
    attempt: attempt.attempt,
    startedAt: timestampFromMicros(attempt.startedAt),
    duration: durationFromMicros(attempt.durationMicros),
    outcome: attempt.outcome,
    ...(attempt.statusCode !== undefined && { statusCode: attempt.statusCode }),
    ...(attempt.detail !== undefined && { detail: attempt.detail }),
    responseHeaders: attempt.responseHeaders,
    responseBody: attempt.responseBody,
  };
}
