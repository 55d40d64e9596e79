import {
  READ_ACCOUNT_COLUMNS,
  type ReadAccountRow,
  readAccountFromRow,
} from "../account/read-account-store.ts";
import type { SessionRecord } from "../admission/caller.ts";
import { scopesFromBits } from "../admission/session-scope.ts";
import { throwIfGone } from "../common/caller-gone.ts";
import type { Insert, Table } from "../database/change.ts";
import { NOW_MICROS } from "../database/now.ts";
import type { Packets, Statement } from "../database/packet.ts";
import type { Pool, ResultSetHeader, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import { SESSION_LIFE_SECONDS } from "./session-secret.ts";

/** A link that is not used yet. */
export type NewSessionLink = {
  readonly codeHash: Buffer;
  readonly accountNo: number;
  readonly scopes: number;
  readonly expiresAt: number;
  readonly returnUrl: string | undefined;
};

type SessionRow = ReadAccountRow & {
  session_hash: Buffer;
  scopes: number;
  expires_at: number;
  return_url: string | null;
};

const LINK: Table = {
  insert: "INSERT INTO session_link (code_hash, account_no, scopes, expires_at, return_url)",
};

/** Stores a link. */
export function storeSessionLink(link: NewSessionLink): Insert {
  const { codeHash, accountNo, scopes, expiresAt, returnUrl = null } = link;
  return { into: LINK, row: [codeHash, accountNo, scopes, expiresAt, returnUrl] };
}

/** An SQL condition: the account is neither blocked nor deleted, so its owner may use the dashboard. */
const OPEN_ACCOUNT = "a.blocked_at IS NULL AND a.deleted_at IS NULL";

const FIND_SESSION = `SELECT s.session_hash, s.scopes, s.expires_at, s.return_url, ${READ_ACCOUNT_COLUMNS}
  FROM dashboard_session s JOIN account a ON a.account_no = s.account_no
  WHERE s.session_hash = ? AND s.expires_at > ${NOW_MICROS} AND ${OPEN_ACCOUNT}`;

/**
 * Exchanges a link for a session, and returns the session. Returns `undefined` if the link is unknown, used or expired,
 * or if its account is blocked or deleted. If several browsers exchange one link at the same time, the first `UPDATE`
 * wins. The others then find no link with their `sessionHash`. If the link works, the transaction also ends `before`,
 * the browser's old session. If the link works but the caller has gone, nobody would get the session. The exchange then
 * fails and changes nothing.
 */
export async function exchangeLink(
  packets: Packets,
  caller: AbortSignal,
  codeHash: Buffer,
  sessionHash: Buffer,
  before?: Buffer,
): Promise<SessionRecord | undefined> {
  const load = [
    {
      sql: `UPDATE session_link SET session_hash = ?
        WHERE code_hash = ? AND session_hash IS NULL AND expires_at > ${NOW_MICROS}`,
      values: [sessionHash, codeHash],
    },
    {
      sql: `INSERT INTO dashboard_session (session_hash, account_no, scopes, expires_at, return_url)
        SELECT l.session_hash, l.account_no, l.scopes, ${NOW_MICROS} + ?, l.return_url
        FROM session_link l JOIN account a ON a.account_no = l.account_no
        WHERE l.code_hash = ? AND l.session_hash = ? AND ${OPEN_ACCOUNT}`,
      values: [SESSION_LIFE_SECONDS * 1_000_000, codeHash, sessionHash],
    },
    { sql: FIND_SESSION, values: [sessionHash] },
  ];
  return packets.loadAndStore(load, ([, , rows]) => {
    const [row] = (rows ?? []) as readonly SessionRow[];
    if (row !== undefined) throwIfGone(caller);
    const ends = row === undefined || before === undefined ? [] : [deleteSession(before)];
    return { statements: ends, result: row && sessionFromRow(row) };
  });
}

/** Finds a session that has not ended, with its account. The account is neither blocked nor deleted. */
export async function findSession(
  pool: Pool,
  sessionHash: Buffer,
): Promise<SessionRecord | undefined> {
  const [row] = await queryWithin<SessionRow[]>(pool, FIND_SESSION, [sessionHash]);
  return row && sessionFromRow(row);
}

/** Finds the account number of a link that is neither used nor expired. */
export async function findLinkAccount(pool: Pool, codeHash: Buffer): Promise<number | undefined> {
  const [link] = await queryWithin<(RowDataPacket & { account_no: number })[]>(
    pool,
    `SELECT account_no FROM session_link
     WHERE code_hash = ? AND session_hash IS NULL AND expires_at > ${NOW_MICROS}`,
    [codeHash],
  );
  return link?.account_no;
}

/**
 * Finds the id of a link's account if the link was used for another session than `before`, which the browser has.
 * Returns `undefined` if there is no such link, if it expired, or if the account is blocked or deleted.
 */
export async function findReusedAccount(
  pool: Pool,
  codeHash: Buffer,
  before: Buffer | undefined,
): Promise<string | undefined> {
  const [row] = await queryWithin<(RowDataPacket & { id: string })[]>(
    pool,
    `SELECT a.id FROM session_link l JOIN account a ON a.account_no = l.account_no
     WHERE l.code_hash = ? AND l.session_hash <> ? AND l.expires_at > ${NOW_MICROS}
     AND ${OPEN_ACCOUNT}`,
    [codeHash, before ?? Buffer.alloc(0)],
  );
  return row?.id;
}

/** Ends one session. */
export function deleteSession(sessionHash: Buffer): Statement {
  return { sql: "DELETE FROM dashboard_session WHERE session_hash = ?", values: [sessionHash] };
}

/** The tables whose rows are useless after they expire. */
export const EXPIRING_TABLES = ["session_link", "dashboard_session"] as const;

/** Deletes at most `limit` expired rows of a table, and returns how many it deleted. */
export async function deleteExpired(
  pool: Pool,
  table: (typeof EXPIRING_TABLES)[number],
  limit: number,
): Promise<number> {
  const { affectedRows } = await queryWithin<ResultSetHeader>(
    pool,
    `DELETE FROM ${table} WHERE expires_at <= ${NOW_MICROS} LIMIT ?`,
    [limit],
  );
  return affectedRows;
}

function sessionFromRow(row: SessionRow): SessionRecord {
  return {
    hash: row.session_hash,
    account: readAccountFromRow(row),
    scopes: scopesFromBits(row.scopes),
    expiresAtMicros: row.expires_at,
    returnUrl: row.return_url ?? undefined,
  };
}
