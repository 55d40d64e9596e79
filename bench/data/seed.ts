import { createHash } from "node:crypto";
import mysql, { type Connection } from "mysql2/promise";
import {
  apiKeyOf,
  type DataSize,
  FIRST_LOAD_ACCOUNT_NO,
  GATEWAY_CREDENTIAL,
  HISTORY_ACCOUNT_NO,
} from "./bench-accounts.ts";
import { CHUNK, lastRecordedAt, type RecordSet, recordStatements } from "./records.ts";

/** Rows of accounts and keys that a statement inserts. */
const ROWS_AT_ONCE = 1_000;
const NEVER = Date.UTC(2200, 0, 1) * 1000;

/** Fills a migrated, empty database; `report` is told how far it is. */
export async function seed(
  url: string,
  size: DataSize,
  report: (detail: string) => void,
): Promise<void> {
  const connection = await mysql.createConnection({ uri: url, charset: "utf8mb4_bin" });
  try {
    await insertAccounts(connection, size);
    await insertGatewayCredential(connection);
    const history: RecordSet = {
      firstAccountNo: HISTORY_ACCOUNT_NO,
      accounts: 1,
      recordsPerAccount: size.historyRecords,
    };
    const load: RecordSet = {
      firstAccountNo: FIRST_LOAD_ACCOUNT_NO,
      accounts: size.loadAccounts,
      recordsPerAccount: size.recordsPerLoadAccount,
    };
    await insertRecords(connection, [history, load], report);
    await connection.query("ANALYZE TABLE account, api_key, donation, platform_event, activity");
  } finally {
    await connection.end();
  }
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

function accountRow(no: number, size: DataSize): unknown[] {
  const records = no === HISTORY_ACCOUNT_NO ? size.historyRecords : size.recordsPerLoadAccount;
  const id = idOf(no);
  return [no, id, Buffer.from(id), `bench_${no}`, `Bench ${no}`, 1, lastRecordedAt(records)];
}

function apiKeyRow(no: number): unknown[] {
  const text = apiKeyOf(no);
  return [sha256(text), idOf(no), no, "bench", text.slice(0, 17), 1, NEVER];
}

async function insertGatewayCredential(connection: Connection): Promise<void> {
  await connection.query(
    `INSERT INTO service_credential (credential_hash, name, permissions, created_at, expires_at)
     VALUES (?, 'bench gateway', 'client_address.forward', 1, ?)`,
    [sha256(GATEWAY_CREDENTIAL), NEVER],
  );
}

/** Inserts what the feeds show and hide. */
export async function insertRecords(
  connection: Connection,
  sets: readonly RecordSet[],
  report: (detail: string) => void,
): Promise<void> {
  const totalOf = (set: RecordSet) => set.accounts * set.recordsPerAccount;
  const total = sets.reduce((sum, set) => sum + totalOf(set), 0);
  let done = 0;
  for (const set of sets) {
    for (let offset = 0; offset < totalOf(set); offset += CHUNK) {
      for (const statement of recordStatements(set, offset)) await connection.query(statement);
      done += Math.min(CHUNK, totalOf(set) - offset);
      report(`${Math.floor((100 * done) / total)} % of ${total.toLocaleString("en")} records`);
    }
  }
}

function idOf(no: number): string {
  return `bench${String(no).padStart(10, "0")}`;
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
