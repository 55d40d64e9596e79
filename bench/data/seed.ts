import mysql, { type Connection } from "mysql2/promise";
import { activityStatement, CHUNK, lastRecordedAt } from "./activities.ts";
import { apiKeyOf, type DataSize, FIRST_ACCOUNT_NO, sha256 } from "./bench-accounts.ts";

/** The number of accounts, or of API keys, that one statement inserts. */
const ROWS_AT_ONCE = 1_000;
const NEVER = Date.UTC(2200, 0, 1) * 1000;
const ACCOUNTS = `INSERT INTO account (account_no, id, external_id, username, display_name, verified_at,
  feed_changed_at) VALUES ?`;
const KEYS =
  "INSERT INTO api_key (key_hash, id, account_no, name, prefix, created_at, expires_at) VALUES ?";

/** Fills a migrated, empty database. Reports its progress. */
export async function seed(uri: string, size: DataSize, report: (detail: string) => void) {
  const connection = await mysql.createConnection({ uri, charset: "utf8mb4_bin" });
  await insertAccounts(connection, size);
  const total = size.accounts * size.activitiesPerAccount;
  for (let offset = 0; offset < total; offset += CHUNK) {
    await connection.query(activityStatement(size, offset));
    report(`${offset} of ${total} activities`);
  }
  await connection.query("ANALYZE TABLE account, api_key, activity");
  await connection.end();
}

async function insertAccounts(connection: Connection, size: DataSize): Promise<void> {
  const end = FIRST_ACCOUNT_NO + size.accounts;
  const changedAt = lastRecordedAt(size.activitiesPerAccount);
  for (let first = FIRST_ACCOUNT_NO; first < end; first += ROWS_AT_ONCE) {
    const length = Math.min(ROWS_AT_ONCE, end - first);
    const rows = Array.from({ length }, (_, place) => {
      const no = first + place;
      const [id, key] = [`bench${String(no).padStart(10, "0")}`, apiKeyOf(no)];
      return {
        account: [no, id, Buffer.from(id), `bench_${no}`, `Bench ${no}`, 1, changedAt],
        key: [sha256(key), id, no, "bench", key.slice(0, 17), 1, NEVER],
      };
    });
    await connection.query(ACCOUNTS, [rows.map(({ account }) => account)]);
    await connection.query(KEYS, [rows.map(({ key }) => key)]);
  }
}
