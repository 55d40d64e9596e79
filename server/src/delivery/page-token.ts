import { createHash } from "node:crypto";
import { DomainError, ErrorCode } from "../common/errors.ts";
import type { DeliveryFilter } from "./delivery-list-store.ts";

/** A token holds the position after which the next page begins, and the list's fingerprint. */
const FORM = /^((?:[a-z0-9]{15}){1,2})-([0-9a-f]{16})$/;

/**
 * Returns the token of the page after a position: a delivery's id, or an endpoint's and a delivery's. It holds no
 * secret and grants no access. `list` names one of an account's lists.
 */
export function pageTokenFrom(accountId: string, list: string, position: string): string {
  return `${position}-${fingerprintOf(accountId, list)}`;
}

/**
 * Returns the position of a token, or `undefined` for an empty one. Fails with `invalid_parameter` if it is no
 * token, or belongs to another account or list.
 */
export function parsePageToken(accountId: string, list: string, token: string): string | undefined {
  if (token === "") return undefined;
  const [, position, fingerprint] = FORM.exec(token) ?? [];
  if (position === undefined) {
    throw new DomainError(
      ErrorCode.InvalidParameter,
      "page_token must be the next_page_token of the previous page. Start again without it.",
    );
  }
  if (fingerprint !== fingerprintOf(accountId, list)) {
    throw new DomainError(
      ErrorCode.InvalidParameter,
      "page_token belongs to another account or to other filters; it accepts the next_page_token of the page before, with the account and filters of that page. Start again without it.",
    );
  }
  return position;
}

function fingerprintOf(accountId: string, list: string): string {
  return createHash("sha256").update(`${accountId}/${list}`).digest("hex").slice(0, 16);
}

/** Names a list by its filters, with times in microseconds. */
export function listOf(filter: DeliveryFilter): string {
  const { endpointId = "", state = "", kind = "", since = "", until = "" } = filter;
  const { lastOutcome = "", eventId = "", recordId = "" } = filter;
  const times = `${since}/${until}`;
  return `${endpointId}/${state}/${kind}/${times}/${lastOutcome}/${eventId}${recordId}`;
}

/** A new field of `DeliveryFilter` does not compile until it is listed here. Add it to `listOf` too. */
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
