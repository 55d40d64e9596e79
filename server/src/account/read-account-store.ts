import { accountNoOf } from "../common/ids.ts";
import type { Pool, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";

/** An account as the read calls need it. */
export type ReadAccount = {
  readonly no: number;
  readonly id: string;
  readonly username: string;
  readonly displayName: string;
  /** While this stays the same, the account's pages do not change. */
  readonly feedVersion: number;
};

export type ReadAccountRow = RowDataPacket & {
  account_no: number;
  id: string;
  username: string | null;
  display_name: string;
  feed_changed_at: number;
};

/** The columns of a `ReadAccountRow`, from table `account` as `a`. */
export const READ_ACCOUNT_COLUMNS =
  "a.account_no, a.id, a.username, a.display_name, a.feed_changed_at";

/** Converts a row. A deleted account has no username. */
export function readAccountFromRow(row: ReadAccountRow): ReadAccount {
  return {
    no: row.account_no,
    id: row.id,
    username: row.username ?? "",
    displayName: row.display_name,
    feedVersion: row.feed_changed_at,
  };
}

/** Finds an account that is not deleted. */
export async function findReadAccount(
  pool: Pool,
  accountId: string,
): Promise<ReadAccount | undefined> {
  const accountNo = accountNoOf(accountId);
  if (accountNo === undefined) return undefined;
  const [row] = await queryWithin<ReadAccountRow[]>(
    pool,
    `SELECT ${READ_ACCOUNT_COLUMNS} FROM account a
     WHERE a.account_no = ? AND a.id = ? AND a.deleted_at IS NULL`,
    [accountNo, accountId],
  );
  return row && readAccountFromRow(row);
}
