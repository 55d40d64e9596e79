import { DomainError, ErrorCode } from "../errors.ts";
import type { DeliveryPosition } from "./delivery-list-store.ts";

const FORM = /^(\d{1,16})-(\d{1,16})$/;

/** Returns the token of the page that follows a position. It holds no secret and gives no right. */
export function pageTokenFrom({ createdAt, deliveryNo }: DeliveryPosition): string {
  return Buffer.from(`${createdAt}-${deliveryNo}`).toString("base64url");
}

/** Returns the position of a token, none of an empty one. Fails with `invalid_parameter`. */
export function parsePageToken(token: string): DeliveryPosition | undefined {
  if (token === "") return undefined;
  const [, createdAt, deliveryNo] =
    FORM.exec(Buffer.from(token, "base64url").toString("latin1")) ?? [];
  if (createdAt === undefined || deliveryNo === undefined) {
    throw new DomainError(
      ErrorCode.InvalidParameter,
      "page_token accepts the next_page_token of the page before.",
    );
  }
  return { createdAt: Number(createdAt), deliveryNo: Number(deliveryNo) };
}
