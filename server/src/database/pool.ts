import mysql, { type PoolOptions } from "mysql2/promise";
import { parseDatabaseUrl } from "./database-url.ts";

export type { PoolConnection, ResultSetHeader, RowDataPacket } from "mysql2/promise";
/** Connections. It runs no statement itself: what does, such as `queryWithin`, has a deadline. */
export type Pool = Pick<mysql.Pool, "pool" | "getConnection" | "end">;

/** How long to wait for a connection before the database counts as out of reach. */
const CONNECT_TIMEOUT_MS = 3_000;

/** A connection that is idle for longer is probed, so that one whose other end is gone is not used again. */
const IDLE_BEFORE_PROBE_MS = 10_000;

/** The settings of every connection of this service to `url`, which `parseDatabaseUrl` describes. */
export function connectionOptions(url: string): PoolOptions {
  const { uri, tls } = parseDatabaseUrl(url);
  return {
    uri,
    // Without this the driver takes any certificate that the authority signed, for any host.
    ...(tls && { ssl: { ...(tls.ca && { ca: tls.ca }), verifyIdentity: true } }),
    charset: "utf8mb4_bin",
    timezone: "Z",
    // BIGINTs beyond 2^53 arrive as decimal strings, all others as numbers.
    supportBigNumbers: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    enableKeepAlive: true,
    keepAliveInitialDelay: IDLE_BEFORE_PROBE_MS,
  };
}

/** Creates the pool; it connects when it is first used. Times and text are exact on its connections. */
export function createPool(url: string, connections: number): Pool {
  const pool = mysql.createPool({
    ...connectionOptions(url),
    connectionLimit: connections,
    maxIdle: connections,
    maxPreparedStatements: 200,
  });
  pool.pool.on("connection", prepareSession);
  return pool;
}

/** Without gap locks, writers of one account wait for its row and for nothing else. */
const READ_COMMITTED = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";
const SESSION_SETTINGS = `SET SESSION
  sql_mode = 'TRADITIONAL,NO_ENGINE_SUBSTITUTION',
  innodb_lock_wait_timeout = 10`;

/** Settles what every connection of the service goes by. */
export function prepareSession(connection: { query(sql: string): unknown }): void {
  connection.query(READ_COMMITTED);
  connection.query(SESSION_SETTINGS);
}
