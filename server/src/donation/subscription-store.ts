import type { Insert, Table } from "../database/change.ts";
import { lookupOf } from "../database/lookup.ts";
import type { RowDataPacket } from "../database/pool.ts";

/** A supporter's monthly subscription through the service. */
export type SubscriptionRecord = {
  /** The service's own id. */
  readonly id: string;
  /** The record id of the first contribution; `undefined` while the subscription has only tests. */
  readonly firstRecordId: string | undefined;
};

type SubscriptionRow = RowDataPacket & { id: string; first_record_id: string | null };

/** Looks up subscriptions by account and external id. */
export const subscriptionsBy = lookupOf<SubscriptionRow, SubscriptionRecord>({
  select: "SELECT account_no, external_id, id, first_record_id FROM subscription",
  key: ["account_no", "external_id"],
  fromRow: (row) => ({ id: row.id, firstRecordId: row.first_record_id ?? undefined }),
});

/** If the subscription exists, it had only tests until now, so only its first contribution changes. */
const SUBSCRIPTION: Table = {
  insert: "INSERT INTO subscription (account_no, external_id, id, first_record_id)",
  ending: "ON DUPLICATE KEY UPDATE first_record_id = VALUES(first_record_id)",
};

/** Stores a subscription and the record id of its first contribution; `undefined` while it has only tests. */
export function storeSubscription(
  accountNo: number,
  externalId: Buffer,
  id: string,
  firstRecordId: string | undefined,
): Insert {
  return { into: SUBSCRIPTION, row: [accountNo, externalId, id, firstRecordId ?? null] };
}
