import { NOW_MICROS } from "../database/now.ts";
import type { Queryable, ResultSetHeader, RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";

/** A stored endpoint that is not deleted, without its secret. */
export type EndpointRecord = {
  readonly id: string;
  readonly url: string;
  /** From `kindBits`. */
  readonly kinds: number;
  readonly standardWebhooks: boolean;
  readonly switchedOn: boolean;
  readonly createdAt: number;
};

/** An endpoint to store, its secret encrypted. */
export type NewEndpoint = {
  readonly accountNo: number;
  readonly id: string;
  readonly url: string;
  readonly kinds: number;
  readonly standardWebhooks: boolean;
  readonly secret: Buffer;
};

type Row = RowDataPacket & {
  id: string;
  url: string;
  kinds: number;
  standard_webhooks: number;
  switched_on: number;
  created_at: number;
};

const COLUMNS = "id, url, kinds, standard_webhooks, switched_on, created_at";

/** Counts the endpoints of an account. */
export async function countEndpoints(tx: Transaction, accountNo: number): Promise<number> {
  const [rows] = await tx.execute<(RowDataPacket & { endpoints: number })[]>(
    "SELECT COUNT(*) AS endpoints FROM endpoint WHERE account_no = ? AND deleted_at IS NULL",
    [accountNo],
  );
  return rows[0]?.endpoints ?? 0;
}

/** Stores an endpoint that is switched on. */
export async function insertEndpoint(tx: Transaction, endpoint: NewEndpoint): Promise<void> {
  await tx.execute(
    `INSERT INTO endpoint (account_no, id, url, kinds, standard_webhooks, switched_on, secret, created_at)
     VALUES (?, ?, ?, ?, ?, TRUE, ?, ${NOW_MICROS})`,
    [
      endpoint.accountNo,
      endpoint.id,
      endpoint.url,
      endpoint.kinds,
      endpoint.standardWebhooks,
      endpoint.secret,
    ],
  );
}

/** Finds an endpoint of an account. */
export async function findEndpoint(
  db: Queryable,
  accountNo: number,
  id: string,
): Promise<EndpointRecord | undefined> {
  const [rows] = await db.execute<Row[]>(
    `SELECT ${COLUMNS} FROM endpoint WHERE account_no = ? AND id = ? AND deleted_at IS NULL`,
    [accountNo, id],
  );
  return rows[0] && endpointFromRow(rows[0]);
}

/** Lists the endpoints of an account, oldest first. */
export async function listEndpoints(db: Queryable, accountNo: number): Promise<EndpointRecord[]> {
  const [rows] = await db.execute<Row[]>(
    `SELECT ${COLUMNS} FROM endpoint WHERE account_no = ? AND deleted_at IS NULL ORDER BY created_at, id`,
    [accountNo],
  );
  return rows.map(endpointFromRow);
}

/** Stores what an owner can change of an endpoint. */
export async function updateEndpoint(
  tx: Transaction,
  accountNo: number,
  { id, url, kinds, standardWebhooks, switchedOn }: EndpointRecord,
): Promise<void> {
  await tx.execute(
    `UPDATE endpoint SET url = ?, kinds = ?, standard_webhooks = ?, switched_on = ?
     WHERE account_no = ? AND id = ?`,
    [url, kinds, standardWebhooks, switchedOn, accountNo, id],
  );
}

/** Replaces the encrypted secret of an endpoint. */
export async function updateSecret(
  tx: Transaction,
  accountNo: number,
  id: string,
  secret: Buffer,
): Promise<void> {
  await tx.execute("UPDATE endpoint SET secret = ? WHERE account_no = ? AND id = ?", [
    secret,
    accountNo,
    id,
  ]);
}

/** Nothing is left of a deleted endpoint but what its deliveries show. */
const ERASE = `SET deleted_at = ${NOW_MICROS}, switched_on = FALSE, url = '', secret = ''`;

/** Deletes an endpoint for good, and returns whether there was one. */
export async function markEndpointDeleted(
  tx: Transaction,
  accountNo: number,
  id: string,
): Promise<boolean> {
  const [result] = await tx.execute<ResultSetHeader>(
    `UPDATE endpoint ${ERASE} WHERE account_no = ? AND id = ? AND deleted_at IS NULL`,
    [accountNo, id],
  );
  return result.affectedRows === 1;
}

/** Deletes all endpoints of an account for good. */
export async function markEndpointsDeleted(tx: Transaction, accountNo: number): Promise<void> {
  await tx.execute(`UPDATE endpoint ${ERASE} WHERE account_no = ? AND deleted_at IS NULL`, [
    accountNo,
  ]);
}

function endpointFromRow(row: Row): EndpointRecord {
  return {
    id: row.id,
    url: row.url,
    kinds: row.kinds,
    standardWebhooks: row.standard_webhooks === 1,
    switchedOn: row.switched_on === 1,
    createdAt: row.created_at,
  };
}
