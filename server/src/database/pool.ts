import mysql, { type PoolOptions } from "mysql2/promise";
import { parseDatabaseUrl } from "./database-url.ts";
import { noteOpened } from "./switch-over.ts";

export type { PoolConnection, ResultSetHeader, RowDataPacket } from "mysql2/promise";
/** Connections to the database. Run statements through functions with a deadline, such as `queryWithin`. */
export type Pool = Pick<mysql.Pool, "pool" | "getConnection" | "end">;

const CONNECT_TIMEOUT_MS = 3_000;
/**
 * The most callers that wait for a connection of a pool. Usually each waits for less than a second. While the database
 * is away, the driver's queue also keeps callers past their deadline, at 2 KB each. Beyond this limit, calls fail as in
 * an outage.
 */
const MAX_WAITING = 10_000;

/** A connection that is idle for longer is probed, so that a dead one is not used again. */
const IDLE_BEFORE_PROBE_MS = 10_000;

/** Returns the settings of every connection to `url`, which `parseDatabaseUrl` parses. */
export function connectionOptions(url: string): PoolOptions {
  const { uri, tls } = parseDatabaseUrl(url);
  return {
    uri,
    // Without this the driver accepts any certificate that the authority signed, for any host.
    ...(tls && { ssl: { ...(tls.ca && { ca: tls.ca }), verifyIdentity: true } }),
    charset: "utf8mb4_bin",
    timezone: "Z",
    // BIGINTs beyond 2^53 arrive as decimal strings, all others as numbers.
    supportBigNumbers: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    enableKeepAlive: true,
    keepAliveInitialDelay: IDLE_BEFORE_PROBE_MS,
    queueLimit: MAX_WAITING,
  };
}

/** Creates the pool, which connects on first use. Its connections keep times and texts exactly. */
export function createPool(url: string, connections: number): Pool {
  const pool = mysql.createPool({
    ...connectionOptions(url),
    connectionLimit: connections,
    maxIdle: connections,
    maxPreparedStatements: 200,
  });
  prepareSessions(pool);
  return pool;
}

/** This isolation level takes no gap locks, so writers of one account wait only for its row. */
const READ_COMMITTED = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";
/**
 * The settings of a session. A wait for a row ends before its statement's deadline, so that it does not count as a lost
 * connection. The server ends a wait for a table after 12 seconds. With a deadline of ten seconds or less, such a wait
 * counts as a lost connection. With a `completion_type` of CHAIN, each COMMIT would open another transaction. With
 * snapshot isolation, MariaDB would refuse a row that another core changed meanwhile. A vtgate ignores
 * `lock_wait_timeout` and `completion_type`.
 */
const SESSION_SETTINGS = `SET SESSION autocommit = 1, completion_type = 'NO_CHAIN',
  sql_mode = 'TRADITIONAL,NO_ENGINE_SUBSTITUTION',
  innodb_lock_wait_timeout = 8, lock_wait_timeout = 12
  /*M!110602 , innodb_snapshot_isolation = OFF */`;
/** Needed because the server may ignore the handshake's character set, or its `init_connect` may set another. */
const UTF_8 = "SET NAMES utf8mb4 COLLATE utf8mb4_bin";
/**
 * If a host vanishes amid a transaction, the transaction's locks stay until the server ends the session. MariaDB ends a
 * session that is idle in a transaction for 15 seconds. MySQL ends one that is idle for 90 seconds. A live transaction
 * is never idle for so long. A caller that polls at the limit's interval could get a connection just as the server ends
 * it. So the limit is 90 seconds, at which few callers poll.
 */
const END_SILENT_SESSIONS =
  "SET SESSION wait_timeout = 90 /*M!100303 , idle_transaction_timeout = 15 */";

type NewConnection = {
  query(sql: string, done: (failure: Error | null) => unknown): unknown;
  readonly stream: { destroy(failure: Error): void };
};

/** Sets up the session of every new connection. The `more` statements run last. */
export function prepareSessions({ pool }: Pool, ...more: readonly string[]): void {
  // The driver's promises wrap the pool, but not this event's connection, which takes callbacks.
  pool.on("connection", (connection: NewConnection) => {
    noteOpened(pool, connection);
    for (const sql of [READ_COMMITTED, SESSION_SETTINGS, UTF_8, END_SILENT_SESSIONS, ...more]) {
      // A session with other settings must not be used. Destroying its stream fails the statements that wait for it.
      connection.query(sql, (failure) => failure && connection.stream.destroy(failure));
    }
  });
}
