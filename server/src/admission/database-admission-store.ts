import { randomBytes } from "node:crypto";
import { NOW_MICROS } from "../database/now.ts";
import type { Packets } from "../database/packet.ts";
import type { Pool, ResultSetHeader, RowDataPacket } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import { ACCOUNT_PREFIX } from "./account-bucket.ts";
import { ACCOUNT_LIMIT, CLIENT_LIMIT } from "./admission.ts";
import {
  ACTIVE,
  API_KEY_COLUMNS,
  API_KEY_TABLES,
  type ApiKeyRow,
  AVAILABLE,
} from "./api-key-row.ts";
import { WINDOW_MICROS } from "./rate-window.ts";

export type ClientRow = RowDataPacket & { bucket: Buffer; batch_admitted: number };

/** A client whose window is full, and for how many microseconds it stays full. */
export type RefusedRow = RowDataPacket & { bucket: Buffer; micros: number };

/** A key, and the window of its account if the batch counted it. */
export type CountedApiKeyRow = ApiKeyRow & {
  batch_admitted: number | null;
  admitted: number | null;
  last_at: number | null;
  ring: Buffer | null;
};

export type CountedBatch = { readonly clients: ClientRow[]; readonly apiKeys: CountedApiKeyRow[] };

export type CountedRest = { readonly refused: RefusedRow[]; readonly apiKeys: CountedApiKeyRow[] };

/**
 * The most by which the database times that two instances see may differ. A window whose last admission is further in
 * the future was written before the clock stepped back.
 */
const CLOCK_STEP_MICROS = 5_000_000;

const time = (micros: string) => `UNHEX(LPAD(HEX(${micros}), 16, '0'))`;

/**
 * How an admission changes an existing window. Each assignment sees the results of the assignments before it. If the
 * clock stepped back by more than `CLOCK_STEP_MICROS`, all admissions count as made now. After a smaller step, the
 * window's newest time counts as now. One more request is admitted if the ring is not full, or if its oldest admission
 * is out of the window.
 */
const countIn = (limit: number) => `ON DUPLICATE KEY UPDATE
  ring = IF(last_at > @now + ${CLOCK_STEP_MICROS}, REPEAT(@now_bytes, LENGTH(ring) DIV 8), ring),
  last_at = IF(last_at > @now + ${CLOCK_STEP_MICROS}, @now, GREATEST(last_at, @now)),
  ok = admitted < ${limit} OR SUBSTR(ring, (admitted MOD ${limit}) * 8 + 1, 8) <= ${time(`last_at - ${WINDOW_MICROS}`)},
  ring = IF(NOT ok, ring, IF(admitted < ${limit}, CONCAT(ring, ${time("last_at")}),
    INSERT(ring, (admitted MOD ${limit}) * 8 + 1, 8, ${time("last_at")}))),
  admitted = admitted + ok,
  batch_admitted = IF(batch = @batch, batch_admitted, 0) + ok,
  batch = @batch`;

const INSERT_WINDOW =
  "INSERT INTO rate_window (bucket, admitted, last_at, ok, ring, batch, batch_admitted)";
const COUNT_CLIENT = countIn(CLIENT_LIMIT);
const COUNT_ACCOUNT = countIn(ACCOUNT_LIMIT);
/** SQL for the time of the oldest admission in a client's full window. */
const OLDEST_OF_CLIENT = `CAST(CONV(HEX(SUBSTR(ring, (admitted MOD ${CLIENT_LIMIT}) * 8 + 1, 8)), 16, 10) AS SIGNED)`;

/**
 * Counts a batch of requests in one round trip, and reads their keys. It counts each client. If all are admitted,
 * it also counts the account of each key that may read. A repeated client or key counts each time.
 */
export async function countBatch(
  packets: Packets,
  clients: readonly Buffer[],
  keyHashes: readonly Buffer[],
): Promise<CountedBatch> {
  const [clientRows, apiKeys = []] = await runPacket(packets, [
    ...clientStatements(clients),
    ...apiKeyStatements(keyHashes, allAdmitted(clients)),
  ]);
  return { clients: clientRows as ClientRow[], apiKeys: apiKeys as CountedApiKeyRow[] };
}

/**
 * Follows `countBatch` if some clients were refused. Counts the accounts of the admitted requests, and reads how
 * long each refused client's window stays full.
 */
export async function countRest(
  packets: Packets,
  refused: readonly Buffer[],
  keyHashes: readonly Buffer[],
): Promise<CountedRest> {
  const [refusedRows, apiKeys = []] = await runPacket(packets, [
    `SELECT bucket, ${OLDEST_OF_CLIENT} + ${WINDOW_MICROS} - GREATEST(@now, last_at) AS micros
      FROM rate_window WHERE bucket IN (${refused.map(literal).join(", ")})`,
    ...apiKeyStatements(keyHashes, "TRUE"),
  ]);
  return { refused: refusedRows as RefusedRow[], apiKeys: apiKeys as CountedApiKeyRow[] };
}

/**
 * Runs statements as one transaction in one round trip. Returns the rows of each SELECT. The statements hold their
 * values as hexadecimal literals.
 */
async function runPacket(
  packets: Packets,
  statements: readonly string[],
): Promise<readonly (readonly RowDataPacket[])[]> {
  const texts = [
    `SET @now = ${NOW_MICROS}, @batch = ${literal(randomBytes(8))}`,
    `SET @now_bytes = ${time("@now")}`,
    ...statements,
  ];
  const rows = await packets.run(texts.map((sql) => ({ sql, values: [] })));
  return rows.filter((_, place) => texts[place]?.startsWith("SELECT"));
}

/** Counts the clients in sorted order, so that all instances lock windows in the same order. */
function clientStatements(clients: readonly Buffer[]): string[] {
  const literals = clients.map(literal).sort();
  const rows = literals.map((bucket) => `(${bucket}, 1, @now, 1, @now_bytes, @batch, 1)`);
  return [
    `${INSERT_WINDOW} VALUES ${rows.join(", ")} ${COUNT_CLIENT}`,
    `SELECT bucket, batch_admitted FROM rate_window WHERE bucket IN (${literals.join(", ")})`,
  ];
}

/** Returns SQL that is true if every client of the batch was admitted. */
function allAdmitted(clients: readonly Buffer[]): string {
  return `(SELECT SUM(batch_admitted) FROM rate_window
    WHERE bucket IN (${clients.map(literal).join(", ")})) = ${clients.length}`;
}

/** Counts the accounts of keys if `condition` holds, and reads the keys. */
function apiKeyStatements(keyHashes: readonly Buffer[], condition: string): string[] {
  if (keyHashes.length === 0) return [];
  const shown = keyHashes.map(literal);
  const hashes = [...new Set(shown)];
  const again = shown.filter((hash, index) => shown.indexOf(hash) < index);
  const areShown = `k.key_hash IN (${hashes.join(", ")})`;
  const counted = `${areShown} AND ${condition}`;
  return [
    // All instances lock windows in this order, to avoid deadlocks.
    countAccounts(API_KEY_TABLES, counted, "ORDER BY id"),
    // If requests repeat a key, a slower join counts its account once for each further request.
    ...(again.length === 0
      ? []
      : [
          countAccounts(
            `${API_KEY_TABLES} JOIN ${tableOf(again)}`,
            `again.hash = k.key_hash AND ${counted}`,
            // No order: the windows are locked already, and a vtgate cannot sort a join.
            "",
          ),
        ]),
    `SELECT ${API_KEY_COLUMNS("@now")}, w.batch_admitted, w.admitted, w.last_at, w.ring
      FROM ${API_KEY_TABLES}
      LEFT JOIN rate_window w ON w.bucket = CONCAT('${ACCOUNT_PREFIX}', a.id) AND w.batch = @batch
      WHERE ${areShown}`,
  ];
}

/**
 * Counts the account of each row whose key may read. A vtgate adds LOCK IN SHARE MODE to an `INSERT … SELECT`. So the
 * rows come from a subquery, which stays unlocked. Otherwise admissions and writes would wait for each other.
 */
function countAccounts(tables: string, condition: string, order: string): string {
  return `${INSERT_WINDOW}
    SELECT CONCAT('${ACCOUNT_PREFIX}', id), 1, @now, 1, @now_bytes, @batch, 1
    FROM (SELECT a.id FROM ${tables}
      WHERE ${condition} AND ${ACTIVE("@now")} AND ${AVAILABLE}) counted
    ${order} ${COUNT_ACCOUNT}`;
}

/** Returns a table of hashes. Its LIMIT drops no row, but stops a vtgate from moving outer conditions into it. */
function tableOf(hashes: readonly string[]): string {
  const rows = hashes.map((hash) => `SELECT ${hash} AS hash`);
  return `(${rows.join(" UNION ALL ")} LIMIT ${hashes.length}) again`;
}

function literal(bytes: Buffer): string {
  return `x'${bytes.toString("hex")}'`;
}

/** Deletes at most `limit` windows with no admission in the last 60 seconds. Returns how many. */
export async function deleteIdleWindows(pool: Pool, limit: number): Promise<number> {
  const { affectedRows } = await queryWithin<ResultSetHeader>(
    pool,
    `DELETE FROM rate_window WHERE last_at < ${NOW_MICROS} - ${WINDOW_MICROS} LIMIT ?`,
    [limit],
  );
  return affectedRows;
}
