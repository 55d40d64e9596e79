import { accountNoOf } from "../common/ids.ts";
import type { Insert, Table } from "../database/change.ts";
import { lookupOf } from "../database/lookup.ts";
import type { Statement } from "../database/packet.ts";
import type { Pool, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import { accountNotFound } from "../write/locked-account.ts";

/** An account that is not deleted. */
export type AccountRecord = {
  readonly accountNo: number;
  readonly id: string;
  readonly externalId: Buffer;
  readonly username: string;
  readonly displayName: string;
  readonly verified: boolean;
  readonly blocked: boolean;
};

/** The fields that `PutAccount` sets. */
export type Profile = {
  readonly externalId: Buffer;
  readonly username: string;
  readonly displayName: string;
};

/** A row with the columns of an account. */
export type AccountRow = RowDataPacket & {
  account_no: number;
  id: string;
  external_id: Buffer;
  username: string;
  display_name: string;
  verified_at: number | null;
  blocked_at: number | null;
};

const COLUMNS = "account_no, id, external_id, username, display_name, verified_at, blocked_at";

/** Looks accounts up by number. */
export const accountsBy = lookupOf<AccountRow, AccountRecord>({
  select: `SELECT ${COLUMNS} FROM account`,
  key: ["account_no"],
  fromRow: accountFromRow,
});

/** Reads an account. Fails with `account_not_found` when it is unknown or deleted. */
export async function readAccount(pool: Pool, accountId: string): Promise<AccountRecord> {
  const accountNo = accountNoOf(accountId);
  if (accountNo === undefined) throw accountNotFound();
  const [row] = await queryWithin<AccountRow[]>(
    pool,
    `SELECT ${COLUMNS} FROM account WHERE account_no = ? AND id = ? AND deleted_at IS NULL`,
    [accountNo, accountId],
  );
  if (row === undefined) throw accountNotFound();
  return accountFromRow(row);
}

/** Reads the account with a username, ignoring case. Fails with `account_not_found`. */
export async function readAccountByUsername(pool: Pool, username: string): Promise<AccountRecord> {
  const [row] = await queryWithin<AccountRow[]>(
    pool,
    `SELECT ${COLUMNS} FROM account WHERE username = ?`,
    [username],
  );
  if (row === undefined) throw accountNotFound("username");
  return accountFromRow(row);
}

/** Finds the account with an external id, and locks it. */
export function lockAccountByExternalId(externalId: Buffer): Statement {
  return {
    sql: `SELECT ${COLUMNS} FROM account WHERE external_id = ? FOR UPDATE`,
    values: [externalId],
  };
}

/** Finds the account with a username, ignoring case. */
export function findAccountByUsername(username: string): Statement {
  return { sql: `SELECT ${COLUMNS} FROM account WHERE username = ?`, values: [username] };
}

const ACCOUNT: Table = {
  insert: "INSERT INTO account (account_no, id, external_id, username, display_name)",
};

/** Stores a new, unverified account. */
export function storeAccount(account: AccountRecord): Insert {
  const { accountNo, id, externalId, username, displayName } = account;
  return { into: ACCOUNT, row: [accountNo, id, externalId, username, displayName] };
}

/** Changes the public names of an account. */
export function updateProfile({ accountNo, username, displayName }: AccountRecord): Statement {
  return {
    sql: "UPDATE account SET username = ?, display_name = ? WHERE account_no = ?",
    values: [username, displayName, accountNo],
  };
}

/** Marks an account as verified. */
export function markVerified(accountNo: number, nowMicros: number): Statement {
  return {
    sql: "UPDATE account SET verified_at = ? WHERE account_no = ?",
    values: [nowMicros, accountNo],
  };
}

/** Blocks an account, or unblocks it if `blockedAtMicros` is null. */
export function updateBlocked(accountNo: number, blockedAtMicros: number | null): Statement {
  return {
    sql: "UPDATE account SET blocked_at = ? WHERE account_no = ?",
    values: [blockedAtMicros, accountNo],
  };
}

/** Converts a row to an account. */
export function accountFromRow(row: AccountRow): AccountRecord {
  return {
    accountNo: row.account_no,
    id: row.id,
    externalId: row.external_id,
    username: row.username,
    displayName: row.display_name,
    verified: row.verified_at !== null,
    blocked: row.blocked_at !== null,
  };
}
