import { NOW_MICROS } from "../database/now.ts";
import type { Pool, ResultSetHeader, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";

/**
 * SQL for the encrypted secret that signs an endpoint's attempt if it is loaded now. The database's clock decides, so
 * all instances switch at once, without a job.
 */
export const SIGNING_SECRET = `IF(next_secret_from <= ${NOW_MICROS}, next_secret, secret)`;

/** SQL for the time when an endpoint's next secret begins to sign; null unless that is in the future. */
export const PENDING_SECRET_FROM = `IF(next_secret_from > ${NOW_MICROS}, next_secret_from, NULL)`;

/** The last endpoint on a page of secrets. The next page begins after it. */
export type EndpointPosition = { readonly accountNo: number; readonly endpointId: string };

/** All secrets of an endpoint, encrypted. */
export type StoredSecrets = EndpointPosition & {
  readonly secret: Buffer;
  /** The secret of the last rotation, pending or not. */
  readonly nextSecret: Buffer | undefined;
};

type Row = RowDataPacket & {
  account_no: number;
  id: string;
  secret: Buffer;
  next_secret: Buffer | null;
};

/** Lists the secrets of the endpoints after a position, in the order of the primary key. */
export async function listSecrets(
  pool: Pool,
  { accountNo, endpointId }: EndpointPosition,
  limit: number,
): Promise<StoredSecrets[]> {
  const rows = await queryWithin<Row[]>(
    pool,
    `SELECT account_no, id, secret, next_secret FROM endpoint FORCE INDEX (PRIMARY)
     WHERE (account_no > ? OR account_no = ? AND id > ?) AND deleted_at IS NULL
     ORDER BY account_no, id LIMIT ${limit}`,
    [accountNo, accountNo, endpointId],
  );
  return rows.map((row) => ({
    accountNo: row.account_no,
    endpointId: row.id,
    secret: row.secret,
    nextSecret: row.next_secret ?? undefined,
  }));
}

/**
 * Stores the re-encrypted secrets of an endpoint. Returns false, and changes nothing, if its secrets are no longer
 * those that were read.
 */
export async function replaceSecrets(
  pool: Pool,
  read: StoredSecrets,
  { secret, nextSecret }: Pick<StoredSecrets, "secret" | "nextSecret">,
): Promise<boolean> {
  const { affectedRows } = await queryWithin<ResultSetHeader>(
    pool,
    `UPDATE endpoint SET secret = ?, next_secret = ?
     WHERE account_no = ? AND id = ? AND secret = ? AND next_secret <=> ?`,
    [
      ...[secret, nextSecret ?? null],
      ...[read.accountNo, read.endpointId, read.secret, read.nextSecret ?? null],
    ],
  );
  return affectedRows === 1;
}
