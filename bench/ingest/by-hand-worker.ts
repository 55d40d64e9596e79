import { randomBytes } from "node:crypto";
import mysql, { type Pool, type PoolConnection, type RowDataPacket } from "mysql2/promise";
import { NOW_MICROS } from "../../server/src/database/now.ts";
import { keepBusy, type Pace } from "../load/keep-busy.ts";
import { textWithId } from "../receiver/arrivals.ts";
import { answerJobs } from "../stack/jobs.ts";

type AccountRow = RowDataPacket & { account_no: number; recorded_at: number };
/** Contributions to write by hand. `contribution-worker.ts` writes the same through the product. */
type ByHand = Pace & {
  readonly databaseUrl: string;
  readonly accountIds: readonly string[];
  readonly run: string;
};

/** The most connections: more than the core's seven for writes. */
const CONNECTIONS = 10;
const LOCK = `SELECT account_no, GREATEST(feed_changed_at + 1, ${NOW_MICROS}) AS recorded_at
  FROM account WHERE id = ? AND deleted_at IS NULL FOR UPDATE`;
const FIND_DONATION = `SELECT record_id, subscription_id FROM donation
  WHERE account_no = ? AND platform = 1 AND external_id = ?`;
const FIND_SUBSCRIPTION = `SELECT id, first_record_id FROM subscription
  WHERE account_no = ? AND external_id = ?`;
const INSERT_SUBSCRIPTION = `INSERT INTO subscription
  (account_no, external_id, id, first_record_id) VALUES (?, ?, ?, ?)`;
const INSERT_DONATION = `INSERT INTO donation
  (account_no, platform, external_id, record_id, status, amount_cents, currency, refunded_amount_cents,
   donor_name, message, donated_at, recorded_at, test, subscription_id)
  VALUES (?, 1, ?, ?, 2, ?, ?, 0, ?, ?, ?, ?, FALSE, ?)`;
const INSERT_ACTIVITY = `INSERT INTO activity
  (account_no, recorded_at, record_key, type, platform, unit, value, occurred_at, currency,
   refunded_amount_cents, actor_name, message)
  VALUES (?, ?, ?, 1, 1, 1, ?, ?, ?, 0, ?, ?)`;
const ADVANCE_CLOCK = "UPDATE account SET feed_changed_at = ? WHERE account_no = ?";
const [CENTS, CURRENCY, DONOR, DONATED_AT] = [500, "eur", "Ada", Date.UTC(2026, 0, 15, 19) * 1000];

let pool: Pool | undefined;

const jobs = {
  /** Writes the same rows as the product, each contribution in its own transaction. */
  write({ databaseUrl, accountIds, run, ...pace }: ByHand) {
    pool ??= createPool(databaseUrl);
    const db = pool;
    return keepBusy(pace, async (turn) => {
      const connection = await db.getConnection();
      try {
        await connection.beginTransaction();
        await writeRows(connection, accountIds[turn % accountIds.length] ?? "", `${run}${turn}`);
        await connection.commit();
      } catch (error) {
        await connection.rollback();
        throw error;
      } finally {
        connection.release();
      }
      return undefined;
    });
  },
};
export type ByHandJobs = typeof jobs;

function createPool(uri: string): Pool {
  const options = { uri, connectionLimit: CONNECTIONS, charset: "utf8mb4_bin" };
  const created = mysql.createPool(options);
  // Sets the product's isolation level. With it, a transaction that has locked the account waits for no other lock.
  created.pool.on("connection", (connection: { query(sql: string): unknown }) =>
    connection.query("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"),
  );
  return created;
}

async function writeRows(db: PoolConnection, accountId: string, id: string): Promise<void> {
  const [[account]] = await db.execute<AccountRow[]>(LOCK, [accountId]);
  if (account === undefined) throw new Error("there is no such account");
  const { account_no: no, recorded_at: at } = account;
  const [donationId, subscriptionId, message] = [`c-${id}`, `s-${id}`, textWithId(id)];
  const [donations] = await db.execute<RowDataPacket[]>(FIND_DONATION, [no, donationId]);
  const [known] = await db.execute<RowDataPacket[]>(FIND_SUBSCRIPTION, [no, subscriptionId]);
  if (donations.length + known.length > 0) throw new Error("it is written already");
  // An id has 15 characters, as in the product.
  const newId = () => randomBytes(8).toString("hex").slice(0, 15);
  const [record, subscription] = [newId(), newId()];
  const paid = [record, CENTS, CURRENCY, DONOR, message, DONATED_AT, at, subscription];
  const shown = [`${record}d`, CENTS, DONATED_AT, CURRENCY, DONOR, message];
  await db.execute(INSERT_SUBSCRIPTION, [no, subscriptionId, subscription, record]);
  await db.execute(INSERT_DONATION, [no, donationId, ...paid]);
  await db.execute(INSERT_ACTIVITY, [no, at, ...shown]);
  await db.execute(ADVANCE_CLOCK, [at, no]);
}

answerJobs(jobs);
