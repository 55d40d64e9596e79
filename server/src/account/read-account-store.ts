import type { Queryable, RowDataPacket } from "../database/pool.ts";

/** An account as the read calls need it. */
export type ReadAccount = {
  readonly no: number;
  readonly id: string;
  readonly username: string;
  readonly displayName: string;
};

type Row = RowDataPacket & { account_no: number; username: string; display_name: string };

/** Finds an account that is not deleted. */
export async function findReadAccount(
  db: Queryable,
  accountId: string,
): Promise<ReadAccount | undefined> {
  const [rows] = await db.execute<Row[]>(
    "SELECT account_no, username, display_name FROM account WHERE id = ? AND deleted_at IS NULL",
    [accountId],
  );
  const row = rows[0];
  return (
    row && {
      no: row.account_no,
      id: accountId,
      username: row.username,
      displayName: row.display_name,
    }
  );
}
