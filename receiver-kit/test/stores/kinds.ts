import { DatabaseSync } from "node:sqlite";
import BetterSqlite from "better-sqlite3";
import { Redis } from "ioredis";
import mysql from "mysql2/promise";
import pg from "pg";
import { createClient } from "redis";
import * as mysqlStores from "../../src/stores/mysql2/index.ts";
import * as pgStores from "../../src/stores/pg/index.ts";
import * as redisStores from "../../src/stores/redis/index.ts";
import * as sqliteStores from "../../src/stores/sqlite/index.ts";
import type { OpenStore, OpenStoreAt } from "./store-kind.ts";

const CREATE_TRACE = "CREATE TABLE IF NOT EXISTS trace (event_id VARCHAR(64) NOT NULL)";
const INSERT_TRACE = "INSERT INTO trace (event_id) VALUES";
const COUNT_TRACES = "SELECT COUNT(*) AS traces FROM trace WHERE event_id =";

const openMysql: OpenStoreAt = async (url) => {
  const pool = mysql.createPool({ uri: url, connectionLimit: 20 });
  await mysqlStores.createTable(pool);
  await pool.query(CREATE_TRACE);
  const transactionStore = mysqlStores.createMysqlTransactionStore(pool);
  type Context = mysqlStores.MysqlTransactionContext<mysql.PoolConnection>;
  return {
    claims: mysqlStores.createMysqlClaims(pool),
    createStore: (options) => mysqlStores.createMysqlStore(pool, options),
    createTransactionStore: () => transactionStore,
    async leaveTrace(context, eventId) {
      await (context as Context).connection.query(`${INSERT_TRACE} (?)`, [eventId]);
    },
    async countTraces(eventId) {
      const [rows] = await pool.query<mysql.RowDataPacket[]>(`${COUNT_TRACES} ?`, [eventId]);
      return Number(rows[0]?.traces);
    },
    close: () => pool.end(),
  };
};

const openPg: OpenStoreAt = async (url) => {
  const pool = new pg.Pool({ connectionString: url, max: 20 });
  await pgStores.createTable(pool);
  await pool.query(CREATE_TRACE);
  const transactionStore = pgStores.createPgTransactionStore(pool);
  type Context = pgStores.PgTransactionContext<pg.PoolClient>;
  return {
    claims: pgStores.createPgClaims(pool),
    createStore: (options) => pgStores.createPgStore(pool, options),
    createTransactionStore: () => transactionStore,
    async leaveTrace(context, eventId) {
      await (context as Context).client.query(`${INSERT_TRACE} ($1)`, [eventId]);
    },
    async countTraces(eventId) {
      const { rows } = await pool.query(`${COUNT_TRACES} $1`, [eventId]);
      return Number(rows[0]?.traces);
    },
    close: () => pool.end(),
  };
};

function openSqlite(db: sqliteStores.SqliteDatabase & { close(): unknown }): OpenStore {
  db.exec("PRAGMA journal_mode = WAL");
  sqliteStores.createTable(db);
  db.exec(CREATE_TRACE);
  const transactionStore = sqliteStores.createSqliteTransactionStore(db);
  return {
    claims: sqliteStores.createSqliteClaims(db),
    createStore: (options) => sqliteStores.createSqliteStore(db, options),
    createTransactionStore: () => transactionStore,
    async leaveTrace(_context, eventId) {
      db.prepare(`${INSERT_TRACE} (?)`).run(eventId);
    },
    async countTraces(eventId) {
      const row = db.prepare(`${COUNT_TRACES} ?`).get(eventId) as { traces: number };
      return row.traces;
    },
    async close() {
      db.close();
    },
  };
}

const openIoredis: OpenStoreAt = async (url) => {
  const client = new Redis(url);
  return {
    claims: redisStores.createRedisClaims(
      (script, key, values) => client.eval(script, 1, key, ...values),
      "receiver-kit:",
    ),
    createStore: (options) => redisStores.createIoredisStore(client, options),
    async close() {
      await client.quit();
    },
  };
};

const openNodeRedis: OpenStoreAt = async (url) => {
  const client = createClient({ url });
  await client.connect();
  return {
    claims: redisStores.createRedisClaims(
      (script, key, values) => client.eval(script, { keys: [key], arguments: values }),
      "receiver-kit:",
    ),
    createStore: (options) => redisStores.createNodeRedisStore(client, options),
    async close() {
      await client.close();
    },
  };
};

/** The stores that processes can share, by the name of the client. */
export const OPEN_BY_CLIENT = {
  mysql2: openMysql,
  pg: openPg,
  "node:sqlite": async (url: string) => openSqlite(new DatabaseSync(url)),
  "better-sqlite3": async (url: string) => openSqlite(new BetterSqlite(url)),
  ioredis: openIoredis,
  redis: openNodeRedis,
} as const satisfies Record<string, OpenStoreAt>;

export type ClientName = keyof typeof OPEN_BY_CLIENT;
