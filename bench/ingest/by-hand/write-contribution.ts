import { randomBytes } from "node:crypto";
import type { Pool, PoolConnection, ResultSetHeader, RowDataPacket } from "mysql2/promise";
import type { WriteId } from "../../load/contribution-request.ts";

type AccountRow = RowDataPacket & { account_no: number; recorded_at: number };

const LOCK = `SELECT account_no, GREATEST(feed_changed_at + 1,
    TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) AS recorded_at
  FROM account WHERE id = ? AND deleted_at IS NULL FOR UPDATE`;
const FIND_DONATION = `SELECT record_id, subscription_id FROM donation
  WHERE account_no = ? AND platform = 1 AND external_id = ?`;
const FIND_SUBSCRIPTION = `SELECT id, first_record_id FROM subscription
  WHERE account_no = ? AND external_id = ?`;
const INSERT_SUBSCRIPTION = `INSERT INTO subscription
  (account_no, external_id, id, first_record_id, started_at) VALUES (?, ?, ?, ?, ?)`;
const INSERT_DONATION = `INSERT INTO donation
  (account_no, platform, external_id, record_id, status, amount_cents, currency, refunded_amount_cents,
   donor_name, message, donated_at, recorded_at, test, subscription_id)
  VALUES (?, 1, ?, ?, 2, ?, ?, 0, ?, ?, ?, ?, FALSE, ?)`;
const INSERT_ACTIVITY = `INSERT INTO activity
  (account_no, recorded_at, record_key, type, platform, unit, value, occurred_at, currency,
   refunded_amount_cents, actor_name, message)
  VALUES (?, ?, ?, 1, 1, 1, ?, ?, ?, 0, ?, ?)`;
const ADVANCE_CLOCK = "UPDATE account SET feed_changed_at = ? WHERE account_no = ?";

const AMOUNT_CENTS = 500;
const CURRENCY = "eur";
const DONOR_NAME = "Ada";
const DONATED_AT = Date.UTC(2026, 0, 15, 19) * 1000;

/**
 * Writes the rows that the product writes for the first contribution of a new subscription, as one would by
 * hand: in one transaction, one statement after the other.
 */
export async function writeContribution(
  pool: Pool,
  accountId: string,
  { run, turn }: WriteId,
): Promise<void> {
  const connection = await pool.getConnection();
  try {
    await connection.beginTransaction();
    await writeRows(connection, accountId, `${run}-${turn}`);
    await connection.commit();
  } catch (error) {
    await connection.rollback();
    throw error;
  } finally {
    connection.release();
  }
}

async function writeRows(db: PoolConnection, accountId: string, id: string): Promise<void> {
  const [accounts] = await db.execute<AccountRow[]>(LOCK, [accountId]);
  const account = accounts[0];
  if (account === undefined) throw new Error("there is no such account");
  const { account_no: no, recorded_at: recordedAt } = account;
  const [donationId, subscriptionId] = [`c-${id}`, `s-${id}`];
  const [donations] = await db.execute<RowDataPacket[]>(FIND_DONATION, [no, donationId]);
  const [known] = await db.execute<RowDataPacket[]>(FIND_SUBSCRIPTION, [no, subscriptionId]);
  if (donations.length + known.length > 0) throw new Error("it is written already");
  const [record, subscription] = [newId(), newId()];
  const message = `bid~${id}~ For the stream`;
  const insert = (sql: string, values: (string | number)[]) =>
    db.execute<ResultSetHeader>(sql, values);
  await insert(INSERT_SUBSCRIPTION, [no, subscriptionId, subscription, record, recordedAt]);
  await insert(INSERT_DONATION, [
    ...[no, donationId, record, AMOUNT_CENTS, CURRENCY, DONOR_NAME, message],
    ...[DONATED_AT, recordedAt, subscription],
  ]);
  await insert(INSERT_ACTIVITY, [
    ...[no, recordedAt, `${record}d`, AMOUNT_CENTS, DONATED_AT, CURRENCY, DONOR_NAME, message],
  ]);
  await insert(ADVANCE_CLOCK, [recordedAt, no]);
}

/** An id of 15 characters, as the product's are. */
function newId(): string {
  return randomBytes(8).toString("hex").slice(0, 15);
}
