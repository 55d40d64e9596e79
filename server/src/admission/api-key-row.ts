import {
  READ_ACCOUNT_COLUMNS,
  type ReadAccountRow,
  readAccountFromRow,
} from "../account/read-account-store.ts";
import type { RowDataPacket } from "../database/pool.ts";
import type { ApiKeyRecord } from "./admission.ts";

/** An API key and its account, as the admission reads them. */
export type ApiKeyRow = RowDataPacket &
  ReadAccountRow & {
    key_hash: Buffer;
    prefix: string;
    expires_at: number;
    active: number;
    available: number;
    /** When the row was read, in microseconds; `null` if the key's stored use is at most an hour earlier. */
    used_at: number | null;
  };

export const API_KEY_TABLES = "api_key k JOIN account a ON a.account_no = k.account_no";

/** SQL that is true if the key is neither revoked nor expired at `now`. */
export const ACTIVE = (now: string) => `(k.revoked_at IS NULL AND k.expires_at > ${now})`;

/** SQL that is true if the account may be read through its keys. */
export const AVAILABLE =
  "(a.verified_at IS NOT NULL AND a.blocked_at IS NULL AND a.deleted_at IS NULL)";

const HOUR_MICROS = 3_600_000_000;

/** SQL that is true if the key's stored use is more than an hour before `now`, so a new use must be stored. */
export const USE_DUE = (now: string) => `(COALESCE(k.last_used_at, 0) < ${now} - ${HOUR_MICROS})`;

export const API_KEY_COLUMNS = (now: string) =>
  `k.key_hash, k.prefix, k.expires_at, ${ACTIVE(now)} AS active,
   ${READ_ACCOUNT_COLUMNS}, ${AVAILABLE} AS available,
   IF(${USE_DUE(now)}, ${now}, NULL) AS used_at`;

export function apiKeyFromRow(row: ApiKeyRow): ApiKeyRecord {
  return {
    prefix: row.prefix,
    expiresAtMicros: row.expires_at,
    account: readAccountFromRow(row),
  };
}
