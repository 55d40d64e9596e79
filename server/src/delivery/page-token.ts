import { createHash } from "node:crypto";
import { DomainError, ErrorCode } from "../common/errors.ts";
import type { DeliveryFilter } from "./delivery-list-store.ts";

/** A token is the id of the last delivery of a page, and the list's fingerprint. */
const FORM = /^([a-z0-9]{15})-([0-9a-f]{16})$/;

/** Returns the token of the page of this list that follows a delivery. It holds no secret and gives no right. */
export function pageTokenFrom(
  accountId: string,
  filter: DeliveryFilter,
  deliveryId: string,
): string {
  return `${deliveryId}-${fingerprintOf(accountId, filter)}`;
}

/**
 * Returns the delivery id of a token, none of an empty one. Fails with `invalid_parameter` when it is no token,
 * or one of another account or of other filters.
 */
export function parsePageToken(
  accountId: string,
  filter: DeliveryFilter,
  token: string,
): string | undefined {
  if (token === "") return undefined;
  const [, deliveryId, fingerprint] = FORM.exec(token) ?? [];
  if (deliveryId === undefined) {
    throw new DomainError(
      ErrorCode.InvalidParameter,
      "page_token is no token of a list of deliveries; it accepts the next_page_token of the page before. Start again without it.",
    );
  }
  if (fingerprint !== fingerprintOf(accountId, filter)) {
    throw new DomainError(
      ErrorCode.InvalidParameter,
      "page_token belongs to another account or to other filters; it accepts the next_page_token of the page before, with the account and filters of that page. Start again without it.",
    );
  }
  return deliveryId;
}

/** What tells lists apart: the account and the filters; times by meaning, in microseconds. */
function fingerprintOf(accountId: string, filter: DeliveryFilter): string {
  const { endpointId = "", state = "", kind = "", since = "", until = "" } = filter;
  const { lastOutcome = "", eventId = "", recordId = "" } = filter;
  const times = `${since}/${until}`;
  const list = `${accountId}/${endpointId}/${state}/${kind}/${times}/${lastOutcome}/${eventId}${recordId}`;
  return createHash("sha256").update(list).digest("hex").slice(0, 16);
}

/** A filter that does not tell lists apart above does not compile here. */
type Bound =
  | "endpointId"
  | "state"
  | "kind"
  | "since"
  | "until"
  | "lastOutcome"
  | "eventId"
  | "recordId";
({}) satisfies Record<Exclude<keyof DeliveryFilter, Bound>, never>;
