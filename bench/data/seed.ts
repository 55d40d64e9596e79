import mysql, { type Connection } from "mysql2/promise";
import { type ActivitySet, activityStatement, CHUNK, lastRecordedAt } from "./activities.ts";
import {
  apiKeyOf,
  type DataSize,
  FIRST_LOAD_ACCOUNT_NO,
  GATEWAY_CREDENTIAL,
  HISTORY_ACCOUNT_NO,
  sha256,
} from "./bench-accounts.ts";

/** Rows of accounts and keys that a statement inserts. */
const ROWS_AT_ONCE = 1_000;
const NEVER = Date.UTC(2200, 0, 1) * 1000;

/** Fills a migrated, empty database; `report` is told how far it is. */
export async function seed(uri: string, size: DataSize, report: (detail: string) => void) {
  const connection = await mysql.createConnection({ uri, charset: "utf8mb4_bin" });
  await insertAccounts(connection, size);
  await connection.query(
    `INSERT INTO service_credential (credential_hash, name, permissions, created_at, expires_at)
     VALUES (?, 'bench gateway', 'client_address.forward', 1, ?)`,
    [sha256(GATEWAY_CREDENTIAL), NEVER],
  );
  const { historyActivities, loadAccounts, activitiesPerLoadAccount } = size;
  const history = { firstAccountNo: HISTORY_ACCOUNT_NO, activitiesPerAccount: historyActivities };
  await insertActivities(connection, { ...history, accounts: 1 }, report);
  await insertActivities(connection, {
    ...{ firstAccountNo: FIRST_LOAD_ACCOUNT_NO, accounts: loadAccounts },
    activitiesPerAccount: activitiesPerLoadAccount,
  });
  await connection.end();
}

/** Inserts the accounts of a run and their keys. */
export async function insertAccounts(connection: Connection, size: DataSize): Promise<void> {
  const last = FIRST_LOAD_ACCOUNT_NO + size.loadAccounts;
  for (let first = HISTORY_ACCOUNT_NO; first < last; first += ROWS_AT_ONCE) {
    const count = Math.min(ROWS_AT_ONCE, last - first);
    const numbers = Array.from({ length: count }, (_, index) => first + index);
    await connection.query(
      `INSERT INTO account (account_no, id, external_id, username, display_name, verified_at,
         feed_changed_at) VALUES ?`,
      [numbers.map((no) => accountRow(no, size))],
    );
    await connection.query(
      "INSERT INTO api_key (key_hash, id, account_no, name, prefix, created_at, expires_at) VALUES ?",
      [numbers.map(apiKeyRow)],
    );
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

function accountRow(no: number, size: DataSize): unknown[] {
  const isLong = no === HISTORY_ACCOUNT_NO;
  const activities = isLong ? size.historyActivities : size.activitiesPerLoadAccount;
  const id = idOf(no);
  return [no, id, Buffer.from(id), `bench_${no}`, `Bench ${no}`, 1, lastRecordedAt(activities)];
}

function apiKeyRow(no: number): unknown[] {
  const text = apiKeyOf(no);
  return [sha256(text), idOf(no), no, "bench", text.slice(0, 17), 1, NEVER];
}

function idOf(no: number): string {
  return `bench${String(no).padStart(10, "0")}`;
}
