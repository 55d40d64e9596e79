import { NOW_MICROS } from "../database/now.ts";
import type { Statement } from "../database/packet.ts";
import type { Pool, ResultSetHeader, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import type { Transaction } from "../database/transaction.ts";

/**
 * Every table that holds data of accounts, in the order in which it is deleted; API keys stay, so that
 * their holder is told why.
 */
export const DATA_TABLES = [
  "session_link",
  // After the links: one that is exchanged just now becomes a session first.
  "dashboard_session",
  // Early, so that deliveries that wait end before a long feed is through. An entry that comes back behind
  // its delivery is removed by the claim that finds it.
  "outbox_entry",
  "delivery",
  // After the deliveries: an attempt is recorded only while its delivery is there.
  "delivery_attempt",
  // After the attempts: who counts one holds its lock until the hour is written.
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

/** Locks an account in whatever state. */
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

/** Erases the names an owner gave the keys of an account. */
export function eraseApiKeyNames(accountNo: number): Statement {
  return { sql: "UPDATE api_key SET name = '' WHERE account_no = ?", values: [accountNo] };
}

/** Deletes at most `limit` rows of an account from a table, and returns how many it deleted. */
export async function deleteDataRows(
  tx: Transaction,
  table: (typeof DATA_TABLES)[number],
  accountNo: number,
  limit: number,
): Promise<number> {
  const [result] = await tx.query<ResultSetHeader>(
    `DELETE FROM ${table} WHERE account_no = ? LIMIT ${limit}`,
    [accountNo],
  );
  return result.affectedRows;
}

/** Marks an account of which nothing is left. */
export async function markPurged(pool: Pool, accountNo: number): Promise<void> {
  await queryWithin<ResultSetHeader>(
    pool,
    `UPDATE account SET purged_at = ${NOW_MICROS} WHERE account_no = ? AND purged_at IS NULL`,
    [accountNo],
  );
}

/** Lists the accounts that were marked as deleted `sinceMicros` ago or before and of which something is left. */
export async function listUnpurgedAccounts(pool: Pool, sinceMicros: number): Promise<number[]> {
  const rows = await queryWithin<AccountNoRow[]>(
    pool,
    `SELECT account_no FROM account FORCE INDEX (account_unpurged)
     WHERE purged_at IS NULL AND deleted_at <= ${NOW_MICROS} - ? ORDER BY deleted_at`,
    [sinceMicros],
  );
  return rows.map((row) => row.account_no);
}
