import { NOW_MICROS } from "../database/now.ts";
import type { Queryable, ResultSetHeader, RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";

/** A stored API key, without its secret. */
export type StoredApiKey = {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly revokedAt: number | undefined;
  /** Neither expired nor revoked when it was read. */
  readonly active: boolean;
};

type Row = RowDataPacket & {
  id: string;
  name: string;
  prefix: string;
  created_at: number;
  expires_at: number;
  revoked_at: number | null;
  active: number;
};

const ACTIVE = `(revoked_at IS NULL AND expires_at > ${NOW_MICROS})`;
const COLUMNS = `id, name, prefix, created_at, expires_at, revoked_at, ${ACTIVE} AS active`;

/** Counts the keys of an account that work now. */
export async function countActiveApiKeys(tx: Transaction, accountNo: number): Promise<number> {
  const [rows] = await tx.execute<(RowDataPacket & { active_keys: number })[]>(
    `SELECT COUNT(*) AS active_keys FROM api_key WHERE account_no = ? AND ${ACTIVE}`,
    [accountNo],
  );
  return rows[0]?.active_keys ?? 0;
}

/** Notes that a key is created now, unless one was within `intervalMicros`: then it returns false. */
export async function markApiKeyCreation(
  tx: Transaction,
  accountNo: number,
  intervalMicros: number,
): Promise<boolean> {
  const [result] = await tx.execute<ResultSetHeader>(
    `UPDATE account SET api_key_created_at = ${NOW_MICROS} WHERE account_no = ?
       AND (api_key_created_at IS NULL OR api_key_created_at <= ${NOW_MICROS} - ${intervalMicros})`,
    [accountNo],
  );
  return result.affectedRows === 1;
}

/** Stores a key that works from now on, for `validityMicros`. */
export async function insertApiKey(
  tx: Transaction,
  key: { accountNo: number; id: string; hash: Buffer; prefix: string; name: string },
  validityMicros: number,
): Promise<void> {
  await tx.execute(
    `INSERT INTO api_key (key_hash, id, account_no, name, prefix, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ${NOW_MICROS}, ${NOW_MICROS} + ${validityMicros})`,
    [key.hash, key.id, key.accountNo, key.name, key.prefix],
  );
}

/** Gives an active key of an account a new expiry; returns false when there is none that is active. */
export async function extendApiKey(
  tx: Transaction,
  accountNo: number,
  id: string,
  validityMicros: number,
): Promise<boolean> {
  const [result] = await tx.execute<ResultSetHeader>(
    `UPDATE api_key SET expires_at = ${NOW_MICROS} + ${validityMicros}
     WHERE account_no = ? AND id = ? AND ${ACTIVE}`,
    [accountNo, id],
  );
  return result.affectedRows === 1;
}

/** Revokes a key of an account; the first time stays. */
export async function markApiKeyRevoked(
  tx: Transaction,
  accountNo: number,
  id: string,
): Promise<void> {
  await tx.execute(
    `UPDATE api_key SET revoked_at = COALESCE(revoked_at, ${NOW_MICROS}) WHERE account_no = ? AND id = ?`,
    [accountNo, id],
  );
}

/** Finds a key of an account, whatever its state. */
export async function findApiKey(
  db: Queryable,
  accountNo: number,
  id: string,
): Promise<StoredApiKey | undefined> {
  const [rows] = await db.execute<Row[]>(
    `SELECT ${COLUMNS} FROM api_key WHERE account_no = ? AND id = ?`,
    [accountNo, id],
  );
  return rows[0] && storedApiKeyFromRow(rows[0]);
}

/** Lists the keys of an account, newest first. */
export async function listApiKeys(db: Queryable, accountNo: number): Promise<StoredApiKey[]> {
  const [rows] = await db.execute<Row[]>(
    `SELECT ${COLUMNS} FROM api_key WHERE account_no = ? ORDER BY created_at DESC, id DESC`,
    [accountNo],
  );
  return rows.map(storedApiKeyFromRow);
}

function storedApiKeyFromRow(row: Row): StoredApiKey {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at ?? undefined,
    active: row.active === 1,
  };
}
