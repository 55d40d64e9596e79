import * as proto from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMicros } from "../../server/src/common/timestamps.ts";
import type { FilledDelivery, FilledEvent } from "../../test/harness/filled-deliveries.ts";

const { DONATION_CREATED: CREATED, DONATION_REFUNDED: REFUNDED } = proto.WebhookEventKind;
const DELIVERED = { state: proto.DeliveryState.DELIVERED, outcome: proto.AttemptOutcome.DELIVERED };
const { FAILED } = proto.DeliveryState;
const { TIMEOUT, RECEIVER_BUSY, REDIRECTED, AUTH_REJECTED, REJECTED } = proto.AttemptOutcome;
/** The outcomes of the second delivery to every other endpoint. */
const FAILURES = [TIMEOUT, RECEIVER_BUSY, REDIRECTED, AUTH_REJECTED, REJECTED];
/** The ids of ten endpoints. They have no rows, because a list reads none. */
const ENDPOINTS = Array.from({ length: 10 }, (_, place) => `endpoint000000${place}`);

/** The deliveries of each event: two to each endpoint, a quarter of them failed. */
export const DELIVERIES: readonly FilledDelivery[] = ENDPOINTS.flatMap((endpointId, place) => {
  const outcome = place % 2 === 0 ? undefined : FAILURES[place >> 1];
  const second = outcome === undefined ? DELIVERED : { state: FAILED, outcome };
  return [
    { endpointId, kind: CREATED, ...DELIVERED },
    { endpointId, kind: REFUNDED, ...second },
  ];
});

/** The parameters of a list. */
export type ListFilter = MessageInitShape<typeof proto.ListDeliveriesRequestSchema>;

/** Returns the measured filters by name: each alone, and some together. `event` lies in the middle of the list. */
export function filtersOf(event: FilledEvent): Readonly<Record<string, ListFilter>> {
  const endpoint = { endpointId: ENDPOINTS[5] ?? "" };
  const state = { state: FAILED };
  const kind = { kind: REFUNDED };
  const outcome = { lastOutcome: REDIRECTED };
  const times = { until: timestampFromMicros(event.createdAtMicros) };
  return {
    "(none)": {},
    ...{ endpoint, state, kind, outcome, times },
    event: { eventId: event.id },
    "endpoint, state": { ...endpoint, ...state },
    "endpoint, kind": { ...endpoint, ...kind },
    "endpoint, outcome": { ...endpoint, ...outcome },
    "endpoint, times": { ...endpoint, ...times },
    "state, kind": { ...state, ...kind },
    "state, outcome": { ...state, ...outcome },
    "kind, outcome": { ...kind, ...outcome },
    "all but the event": { ...endpoint, ...state, ...kind, ...outcome, ...times },
    "all, event of the middle": { ...endpoint, ...state, ...kind, ...outcome, eventId: event.id },
    "endpoint, outcome that it has not": { ...endpoint, lastOutcome: TIMEOUT },
  };
}
