import { createHash } from "node:crypto";
import { DomainError, ErrorCode } from "../errors.ts";
import type { DeliveryFilter, DeliveryPosition } from "./delivery-list-store.ts";

/** A token is base64url of: created_at in microseconds, delivery number, and the list's fingerprint. */
const FORM = /^(\d{1,16})-(\d{1,16})-([0-9a-f]{16})$/;

/** Returns the token of the page of this list that follows a position. It holds no secret and gives no right. */
export function pageTokenFrom(
  accountId: string,
  filter: DeliveryFilter,
  { createdAt, deliveryNo }: DeliveryPosition,
): string {
  const text = `${createdAt}-${deliveryNo}-${fingerprintOf(accountId, filter)}`;
  return Buffer.from(text).toString("base64url");
}

/**
 * Returns the position of a token, none of an empty one. Fails with `invalid_parameter` when it is no token,
 * or one of another account or of other filters.
 */
export function parsePageToken(
  accountId: string,
  filter: DeliveryFilter,
  token: string,
): DeliveryPosition | undefined {
  if (token === "") return undefined;
  const [, createdAt, deliveryNo, fingerprint] =
    FORM.exec(Buffer.from(token, "base64url").toString("latin1")) ?? [];
  if (createdAt === undefined || deliveryNo === undefined) {
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
  return { createdAt: Number(createdAt), deliveryNo: Number(deliveryNo) };
}

/** What tells lists apart: the account and the filters; times by meaning, in microseconds. */
function fingerprintOf(accountId: string, filter: DeliveryFilter): string {
  const { endpointId = "", state = "", kind = "", since = "", until = "" } = filter;
  const list = `${accountId}/${endpointId}/${state}/${kind}/${since}/${until}`;
  return createHash("sha256").update(list).digest("hex").slice(0, 16);
}
