import { leastIdAt } from "../common/ids.ts";
import { NOW_MICROS } from "../database/now.ts";
import type { Pool, ResultSetHeader, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import type { Transaction } from "../database/transaction.ts";
import type { NoticeKind, OpenNotice } from "./notice.ts";

/** A stored notice; times in microseconds. */
export type StoredNotice = OpenNotice & {
  readonly accountId: string;
  readonly kind: NoticeKind;
  readonly subjectId: string;
  readonly closedAt: number | undefined;
};

export type NewNotice = Omit<StoredNotice, "sequence" | "closedAt">;

/** The sequence of the last notice, and the database's time in microseconds. */
export type NoticeClock = { readonly lastSequence: number; readonly nowMicros: number };

type Row = RowDataPacket & {
  sequence: number;
  account_id: string;
  kind: NoticeKind;
  subject_id: string;
  level: number;
  since: number;
  ends_at: number | null;
  closed_at: number | null;
};

const COLUMNS = "sequence, account_id, kind, subject_id, level, since, ends_at, closed_at";

/**
 * Locks all notices for writing until the commit, so that transactions commit notices in the order of their sequences.
 * Every writer takes this lock before it reads the data that it decides from.
 */
export async function lockNotices(tx: Transaction): Promise<NoticeClock> {
  const [[row]] = await tx.query<(RowDataPacket & { last_notice: number; now_micros: number })[]>(
    `SELECT last_notice, ${NOW_MICROS} AS now_micros FROM installation FOR UPDATE`,
  );
  if (row === undefined) throw new Error("table installation has no row");
  return { lastSequence: row.last_notice, nowMicros: row.now_micros };
}

/** Stores notices (at least one) with the next sequences. */
export async function insertNotices(
  tx: Transaction,
  { lastSequence, nowMicros }: NoticeClock,
  notices: readonly NewNotice[],
): Promise<void> {
  const first = Math.max(lastSequence + 1, nowMicros);
  const rows = notices.map((each, index) => [
    ...[first + index, each.accountId, each.kind, each.subjectId, each.level],
    ...[each.since, each.endsAt ?? null],
  ]);
  await tx.query(
    `INSERT INTO notice (sequence, account_id, kind, subject_id, level, since, ends_at)
     VALUES ?`,
    [rows],
  );
  await tx.query("UPDATE installation SET last_notice = ? WHERE only_one = TRUE", [
    first + rows.length - 1,
  ]);
}

/** Closes notices (at least one). */
export async function closeNotices(
  tx: Transaction,
  sequences: readonly number[],
  nowMicros: number,
): Promise<void> {
  await tx.query("UPDATE notice SET closed_at = ? WHERE sequence IN (?)", [nowMicros, sequences]);
}

/** Lists the open notices of subjects and kinds (at least one of each). */
export async function listOpenOf(
  tx: Transaction,
  subjectIds: readonly string[],
  kinds: readonly NoticeKind[],
): Promise<StoredNotice[]> {
  const [rows] = await tx.query<Row[]>(
    `SELECT ${COLUMNS} FROM notice
     WHERE subject_id IN (?) AND kind IN (?) AND closed_at IS NULL`,
    [subjectIds, kinds],
  );
  return rows.map(noticeFromRow);
}

/** Tells whether a subject has a notice of a kind, open or closed. */
export async function hasNotice(
  tx: Transaction,
  kind: NoticeKind,
  subjectId: string,
): Promise<boolean> {
  const [rows] = await tx.query<RowDataPacket[]>(
    "SELECT 1 FROM notice WHERE subject_id = ? AND kind = ? LIMIT 1",
    [subjectId, kind],
  );
  return rows.length > 0;
}

/** Tells whether an account exists and is not deleted. */
export async function isAccountThere(tx: Transaction, accountNo: number): Promise<boolean> {
  const [rows] = await tx.query<RowDataPacket[]>(
    "SELECT 1 FROM account WHERE account_no = ? AND deleted_at IS NULL",
    [accountNo],
  );
  return rows.length > 0;
}

/** Lists at most `limit` open notices of all accounts after a sequence, oldest first. */
export async function listOpen(pool: Pool, after: number, limit: number): Promise<StoredNotice[]> {
  const rows = await queryWithin<Row[]>(
    pool,
    `SELECT ${COLUMNS} FROM notice WHERE closed_at IS NULL AND sequence > ?
     ORDER BY sequence LIMIT ${limit}`,
    [after],
  );
  return rows.map(noticeFromRow);
}

/** Lists at most `limit` notices after a sequence, oldest first, of one account or of all. */
export async function listNotices(
  pool: Pool,
  accountId: string | undefined,
  after: bigint,
  limit: number,
): Promise<StoredNotice[]> {
  const ofAccount = accountId === undefined ? "" : "account_id = ? AND";
  const rows = await queryWithin<Row[]>(
    pool,
    `SELECT ${COLUMNS} FROM notice WHERE ${ofAccount} sequence > ? ORDER BY sequence LIMIT ?`,
    [...(accountId === undefined ? [] : [accountId]), after, limit],
  );
  return rows.map(noticeFromRow);
}

/**
 * Lists the newest open notices of an account, newest first. They have one of `kinds` (at least one) and no sequence in
 * `without`.
 */
export async function listOpenOfAccount(
  pool: Pool,
  accountId: string,
  {
    kinds,
    without,
  }: { readonly kinds: readonly NoticeKind[]; readonly without: readonly bigint[] },
  limit: number,
): Promise<StoredNotice[]> {
  const rows = await queryWithin<Row[]>(
    pool,
    `SELECT ${COLUMNS} FROM notice
     WHERE account_id = ? AND closed_at IS NULL AND kind IN (?) AND sequence NOT IN (?)
     ORDER BY sequence DESC LIMIT ${limit}`,
    // SQL allows no empty list, so the list begins with 0, a sequence that no notice has.
    [accountId, kinds, [0n, ...without]],
  );
  return rows.map(noticeFromRow);
}

/** Deletes at most `limit` notices that were closed longer ago than `keptMicros`, and returns their number. */
export async function deleteOldNotices(
  pool: Pool,
  keptMicros: number,
  limit: number,
): Promise<number> {
  const { affectedRows } = await queryWithin<ResultSetHeader>(
    pool,
    `DELETE FROM notice WHERE closed_at < ${NOW_MICROS} - ? LIMIT ${limit}`,
    [keptMicros],
  );
  return affectedRows;
}

/** Deletes the notices of an account. The account's id begins with its number. */
export async function deleteNoticesOf(tx: Transaction, accountNo: number): Promise<void> {
  // Lock first: then every sweep that saw the account has committed, and a later sweep sees that the account is
  // deleted.
  await lockNotices(tx);
  await tx.query("DELETE FROM notice WHERE account_id >= ? AND account_id < ?", [
    leastIdAt(accountNo),
    leastIdAt(accountNo + 1),
  ]);
}

function noticeFromRow(row: Row): StoredNotice {
  return {
    sequence: row.sequence,
    accountId: row.account_id,
    kind: row.kind,
    subjectId: row.subject_id,
    level: row.level,
    since: row.since,
    endsAt: row.ends_at ?? undefined,
    closedAt: row.closed_at ?? undefined,
  };
}
