import type { Insert, Table } from "../database/change.ts";
import { lookupOf } from "../database/lookup.ts";
import { NOW_MICROS } from "../database/now.ts";
import type { Statement } from "../database/packet.ts";
import type { Pool, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";

/** A stored API key, without its secret. */
export type StoredApiKey = {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly revokedAt: number | undefined;
  /** The last noted use. The real last use may be up to an hour and a minute later. `undefined` if no use is stored. */
  readonly lastUsedAt: number | undefined;
  /** Whether the key was neither expired nor revoked when it was read. */
  readonly active: boolean;
};

type Row = RowDataPacket & {
  id: string;
  name: string;
  prefix: string;
  created_at: number;
  expires_at: number;
  revoked_at: number | null;
  last_used_at: number | null;
  active: number;
};

const ACTIVE = `(revoked_at IS NULL AND expires_at > ${NOW_MICROS})`;
const COLUMNS = `id, name, prefix, created_at, expires_at, revoked_at, last_used_at, ${ACTIVE} AS active`;

/** Looks keys up by account and id, in any state. */
export const apiKeysBy = lookupOf<Row, StoredApiKey>({
  select: `SELECT account_no, ${COLUMNS} FROM api_key`,
  key: ["account_no", "id"],
  fromRow: storedApiKeyFromRow,
});

/** Looks up how many keys of an account are active now. Finds nothing if no key is active. */
export const activeApiKeysOf = lookupOf<RowDataPacket & { active_keys: number }, number>({
  select: "SELECT account_no, COUNT(*) AS active_keys FROM api_key",
  key: ["account_no"],
  ending: `AND ${ACTIVE} GROUP BY account_no`,
  fromRow: (row) => row.active_keys,
});

/** Looks up when an account's last key was created, in microseconds. Finds nothing before the first key. */
export const lastApiKeyCreationOf = lookupOf<
  RowDataPacket & { api_key_created_at: number },
  number
>({
  select: "SELECT account_no, api_key_created_at FROM account",
  key: ["account_no"],
  ending: "AND api_key_created_at IS NOT NULL",
  fromRow: (row) => row.api_key_created_at,
});

/** Stores when an account's last key was created. */
export function storeApiKeyCreation(accountNo: number, nowMicros: number): Statement {
  return {
    sql: "UPDATE account SET api_key_created_at = ? WHERE account_no = ?",
    values: [nowMicros, accountNo],
  };
}

const API_KEY: Table = {
  insert: "INSERT INTO api_key (key_hash, id, account_no, name, prefix, created_at, expires_at)",
};

/** Stores a new key. */
export function storeApiKey(accountNo: number, hash: Buffer, key: StoredApiKey): Insert {
  const { id, name, prefix, createdAt, expiresAt } = key;
  return { into: API_KEY, row: [hash, id, accountNo, name, prefix, createdAt, expiresAt] };
}

/** Gives a key of an account a new expiry. */
export function updateExpiry(accountNo: number, id: string, expiresAt: number): Statement {
  return {
    sql: "UPDATE api_key SET expires_at = ? WHERE account_no = ? AND id = ?",
    values: [expiresAt, accountNo, id],
  };
}

/** Revokes a key of an account. */
export function markApiKeyRevoked(accountNo: number, id: string, nowMicros: number): Statement {
  return {
    sql: "UPDATE api_key SET revoked_at = ? WHERE account_no = ? AND id = ?",
    values: [nowMicros, accountNo, id],
  };
}

/** Lists the keys of an account, newest first. */
export async function listApiKeys(pool: Pool, accountNo: number): Promise<StoredApiKey[]> {
  const rows = await queryWithin<Row[]>(
    pool,
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
    lastUsedAt: row.last_used_at ?? undefined,
    active: row.active === 1,
  };
}
