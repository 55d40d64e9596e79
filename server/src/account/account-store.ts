import { NOW_MICROS } from "../database/now.ts";
import type { Pool, Queryable, ResultSetHeader, RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";
import { DomainError, ErrorCode } from "../errors.ts";

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

/** What an account's owner is known by. */
export type Profile = {
  readonly externalId: Buffer;
  readonly username: string;
  readonly displayName: string;
};

type AccountRow = RowDataPacket & {
  account_no: number;
  id: string;
  external_id: Buffer;
  username: string;
  display_name: string;
  verified_at: number | null;
  blocked_at: number | null;
};

const COLUMNS = "account_no, id, external_id, username, display_name, verified_at, blocked_at";

/**
 * Locks an account until the transaction ends, and returns its number. Every write to an account's data
 * starts here, so that they follow one another. Fails with `account_not_found` when it is unknown or
 * deleted.
 */
export async function lockAccount(tx: Transaction, accountId: string): Promise<number> {
  const [rows] = await tx.execute<(RowDataPacket & { account_no: number })[]>(
    "SELECT account_no FROM account WHERE id = ? AND deleted_at IS NULL FOR UPDATE",
    [accountId],
  );
  if (rows[0] === undefined) throw accountNotFound();
  return rows[0].account_no;
}

/**
 * Advances the feed's clock of an account that this transaction has locked, and returns the time at which
 * what it records is recorded: later than all before, even when the database's clock stepped back. At most
 * once a transaction: what is committed together shares it.
 */
export async function advanceFeedClock(tx: Transaction, accountNo: number): Promise<number> {
  const [result] = await tx.execute<ResultSetHeader>(
    `UPDATE account SET last_recorded_at = LAST_INSERT_ID(GREATEST(last_recorded_at + 1, ${NOW_MICROS}))
     WHERE account_no = ?`,
    [accountNo],
  );
  return result.insertId;
}

/** Reads an account. Fails with `account_not_found` when it is unknown or deleted. */
export async function readAccount(db: Queryable | Pool, accountId: string): Promise<AccountRecord> {
  const [rows] = await db.execute<AccountRow[]>(
    `SELECT ${COLUMNS} FROM account WHERE id = ? AND deleted_at IS NULL`,
    [accountId],
  );
  if (rows[0] === undefined) throw accountNotFound();
  return accountFromRow(rows[0]);
}

/** Reads the account with a username, in any case. Fails with `account_not_found`. */
export async function readAccountByUsername(
  db: Queryable | Pool,
  username: string,
): Promise<AccountRecord> {
  const [rows] = await db.execute<AccountRow[]>(
    `SELECT ${COLUMNS} FROM account WHERE username = ?`,
    [username],
  );
  if (rows[0] === undefined) throw accountNotFound();
  return accountFromRow(rows[0]);
}

/** Finds the account with a writer's own id, and locks it. */
export async function lockAccountByExternalId(
  tx: Transaction,
  externalId: Buffer,
): Promise<AccountRecord | undefined> {
  const [rows] = await tx.execute<AccountRow[]>(
    `SELECT ${COLUMNS} FROM account WHERE external_id = ? FOR UPDATE`,
    [externalId],
  );
  return rows[0] && accountFromRow(rows[0]);
}

/** Stores a new, unverified account, and returns false when another has its external id or username. */
export async function insertAccount(
  tx: Transaction,
  id: string,
  { externalId, username, displayName }: Profile,
): Promise<boolean> {
  try {
    await tx.execute(
      "INSERT INTO account (id, external_id, username, display_name) VALUES (?, ?, ?, ?)",
      [id, externalId, username, displayName],
    );
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}

/** Changes the public names of an account, and returns false when another has the username. */
export async function updateProfile(
  tx: Transaction,
  accountNo: number,
  { username, displayName }: Profile,
): Promise<boolean> {
  try {
    await tx.execute("UPDATE account SET username = ?, display_name = ? WHERE account_no = ?", [
      username,
      displayName,
      accountNo,
    ]);
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}

/** Marks an account as verified; the first time stays. */
export async function markVerified(tx: Transaction, accountNo: number): Promise<void> {
  await tx.execute(
    `UPDATE account SET verified_at = COALESCE(verified_at, ${NOW_MICROS}) WHERE account_no = ?`,
    [accountNo],
  );
}

/** Marks an account as blocked; the first time stays. */
export async function markBlocked(tx: Transaction, accountNo: number): Promise<void> {
  await tx.execute(
    `UPDATE account SET blocked_at = COALESCE(blocked_at, ${NOW_MICROS}) WHERE account_no = ?`,
    [accountNo],
  );
}

/** Lifts the block of an account. */
export async function clearBlocked(tx: Transaction, accountNo: number): Promise<void> {
  await tx.execute("UPDATE account SET blocked_at = NULL WHERE account_no = ?", [accountNo]);
}

/** Returns the failure of a call that names no account. */
export function accountNotFound(): DomainError {
  return new DomainError(ErrorCode.AccountNotFound, "There is no such account.");
}

function isDuplicate(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ER_DUP_ENTRY";
}

function accountFromRow(row: AccountRow): AccountRecord {
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
