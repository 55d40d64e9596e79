import type { RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";

/** A supporter's monthly subscription through the service. */
export type SubscriptionRecord = {
  /** The service's own id. */
  readonly id: string;
  /** The record id of its first contribution; `undefined` while there were only tests. */
  readonly firstRecordId: string | undefined;
};

type SubscriptionRow = RowDataPacket & { id: string; first_record_id: string | null };

/** Finds a subscription by its writer's external id. */
export async function findSubscription(
  tx: Transaction,
  accountNo: number,
  externalId: Buffer,
): Promise<SubscriptionRecord | undefined> {
  const [rows] = await tx.execute<SubscriptionRow[]>(
    "SELECT id, first_record_id FROM subscription WHERE account_no = ? AND external_id = ?",
    [accountNo, externalId],
  );
  return rows[0] && subscriptionFromRow(rows[0]);
}

/** Finds a subscription by the service's own id. */
export async function findSubscriptionById(
  tx: Transaction,
  accountNo: number,
  id: string,
): Promise<SubscriptionRecord | undefined> {
  const [rows] = await tx.execute<SubscriptionRow[]>(
    "SELECT id, first_record_id FROM subscription WHERE account_no = ? AND id = ?",
    [accountNo, id],
  );
  return rows[0] && subscriptionFromRow(rows[0]);
}

/** Stores a new subscription, which has no contribution yet. */
export async function insertSubscription(
  tx: Transaction,
  accountNo: number,
  externalId: Buffer,
  id: string,
): Promise<void> {
  await tx.execute("INSERT INTO subscription (account_no, external_id, id) VALUES (?, ?, ?)", [
    accountNo,
    externalId,
    id,
  ]);
}

/** Stores which contribution started a subscription, and when that was recorded. */
export async function startSubscription(
  tx: Transaction,
  accountNo: number,
  id: string,
  first: { recordId: string; recordedAt: number },
): Promise<void> {
  await tx.execute(
    "UPDATE subscription SET first_record_id = ?, started_at = ? WHERE account_no = ? AND id = ?",
    [first.recordId, first.recordedAt, accountNo, id],
  );
}

function subscriptionFromRow(row: SubscriptionRow): SubscriptionRecord {
  return { id: row.id, firstRecordId: row.first_record_id ?? undefined };
}
