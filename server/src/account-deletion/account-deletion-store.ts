import { NOW_MICROS } from "../database/now.ts";
import type { Statement } from "../database/packet.ts";
import type { Pool, ResultSetHeader, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";

/**
 * The tables with `account_no` from which the purge deletes an account's rows, in this order. API keys stay, so that a
 * request with a key of a deleted account gets `account_unavailable`.
 */
export const DATA_TABLES = [
  "session_link",
  // Follows the links, because a link that is being exchanged still becomes a session.
  "dashboard_session",
  // Comes early, so that waiting deliveries end before a long feed is deleted. If an entry is written again meanwhile,
  // a claim finds that the entry has no delivery, and removes it.
  "outbox_entry",
  "delivery",
  // Follows the deliveries, because an attempt is recorded only while its delivery exists.
  "delivery_attempt",
  // Follows the attempts: the job that counts attempts locks them until their hours are written. So no hours come
  // later.
  "delivery_stat",
  "webhook_event",
  "endpoint",
  "activity",
  "donation",
  "donation_refund",
  "donation_dispute",
  "subscription",
  "platform_event",
] as const;

type AccountNoRow = RowDataPacket & { account_no: number };
/** A row of `lockForDeletion`. */
export type DeletionRow = AccountNoRow & { deleted_at: number | null };

/** Locks an account in any state. */
export function lockForDeletion(accountNo: number, accountId: string): Statement {
  return {
    sql: "SELECT account_no, deleted_at FROM account WHERE account_no = ? AND id = ? FOR UPDATE",
    values: [accountNo, accountId],
  };
}

/** Marks an account as deleted, which ends all access, and erases its profile. */
export function markDeleted(accountNo: number, nowMicros: number): Statement {
  return {
    sql: `UPDATE account SET deleted_at = ?, external_id = NULL, username = NULL, display_name = ''
      WHERE account_no = ?`,
    values: [nowMicros, accountNo],
  };
}

/** Erases the names of an account's API keys. */
export function eraseApiKeyNames(accountNo: number): Statement {
  return { sql: "UPDATE api_key SET name = '' WHERE account_no = ?", values: [accountNo] };
}

/**
 * Deletes at most `limit` rows of an account from a table, and returns how many it deleted. Uses no transaction: a
 * process that vanishes before its COMMIT would leave rows locked, and claims would wait for them.
 */
export async function deleteDataRows(
  pool: Pool,
  table: (typeof DATA_TABLES)[number],
  accountNo: number,
  limit: number,
): Promise<number> {
  const { affectedRows } = await queryWithin<ResultSetHeader>(
    pool,
    `DELETE FROM ${table} WHERE account_no = ? LIMIT ${limit}`,
    [accountNo],
  );
  return affectedRows;
}

/** Marks an account as purged: all its data is deleted. */
export async function markPurged(pool: Pool, accountNo: number): Promise<void> {
  await queryWithin<ResultSetHeader>(
    pool,
    `UPDATE account SET purged_at = ${NOW_MICROS} WHERE account_no = ? AND purged_at IS NULL`,
    [accountNo],
  );
}

/** Lists the accounts that were marked as deleted at least `sinceMicros` ago and are not purged. */
export async function listUnpurgedAccounts(pool: Pool, sinceMicros: number): Promise<number[]> {
  const rows = await queryWithin<AccountNoRow[]>(
    pool,
    `SELECT account_no FROM account FORCE INDEX (account_unpurged)
     WHERE purged_at IS NULL AND deleted_at <= ${NOW_MICROS} - ? ORDER BY deleted_at`,
    [sinceMicros],
  );
  return rows.map((row) => row.account_no);
}
