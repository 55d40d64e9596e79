import mysql, { type Connection } from "mysql2/promise";
import { type ActivitySet, activityStatement, CHUNK, lastRecordedAt } from "./activities.ts";
import * as bench from "./bench-accounts.ts";

/** Rows of accounts and keys that a statement inserts. */
const ROWS_AT_ONCE = 1_000;
const NEVER = Date.UTC(2200, 0, 1) * 1000;
const ACCOUNTS = `INSERT INTO account (account_no, id, external_id, username, display_name, verified_at,
  feed_changed_at) VALUES ?`;
const KEYS =
  "INSERT INTO api_key (key_hash, id, account_no, name, prefix, created_at, expires_at) VALUES ?";

/** Fills a migrated, empty database; `report` is told how far it is. */
export async function seed(uri: string, size: bench.DataSize, report: (detail: string) => void) {
  const connection = await mysql.createConnection({ uri, charset: "utf8mb4_bin" });
  await insertAccounts(connection, size);
  const { historyActivities, loadAccounts, activitiesPerLoadAccount } = size;
  await insertActivities(
    connection,
    { first: bench.HISTORY_ACCOUNT_NO, accounts: 1, activitiesPerAccount: historyActivities },
    report,
  );
  const { FIRST_LOAD_ACCOUNT_NO: first } = bench;
  const load = { accounts: loadAccounts, activitiesPerAccount: activitiesPerLoadAccount };
  await insertActivities(connection, { first, ...load }, report);
  await connection.end();
}

/** Inserts the accounts of a run and their keys. */
export async function insertAccounts(
  connection: Connection,
  { loadAccounts, historyActivities, activitiesPerLoadAccount }: bench.DataSize,
): Promise<void> {
  const last = bench.FIRST_LOAD_ACCOUNT_NO + loadAccounts;
  for (let first = bench.HISTORY_ACCOUNT_NO; first < last; first += ROWS_AT_ONCE) {
    const length = Math.min(ROWS_AT_ONCE, last - first);
    const rows = Array.from({ length }, (_, place) => {
      const no = first + place;
      const isLong = no === bench.HISTORY_ACCOUNT_NO;
      const changedAt = lastRecordedAt(isLong ? historyActivities : activitiesPerLoadAccount);
      const [id, key] = [`bench${String(no).padStart(10, "0")}`, bench.apiKeyOf(no)];
      return {
        account: [no, id, Buffer.from(id), `bench_${no}`, `Bench ${no}`, 1, changedAt],
        key: [bench.sha256(key), id, no, "bench", key.slice(0, 17), 1, NEVER],
      };
    });
    await connection.query(ACCOUNTS, [rows.map(({ account }) => account)]);
    await connection.query(KEYS, [rows.map(({ key }) => key)]);
  }
}

/** Inserts what the feeds of some accounts show. */
export async function insertActivities(
  connection: Connection,
  set: ActivitySet,
  report?: (detail: string) => void,
): Promise<void> {
  const total = set.accounts * set.activitiesPerAccount;
  for (let offset = 0; offset < total; offset += CHUNK) {
    await connection.query(activityStatement(set, offset));
    report?.(`${offset} of ${total} activities`);
  }
  await connection.query("ANALYZE TABLE account, api_key, activity");
}
