import { randomBytes } from "node:crypto";
import { migrate } from "@activity/server";
import mysql, { type Pool } from "mysql2/promise";
import { inject, vi } from "vitest";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { createPool, type Pool as ProductPool } from "../../server/src/database/pool.ts";
import type { Keyspace } from "../vitess/harness-keyspaces.ts";
import { startVitess } from "../vitess/harness-vitess.ts";
import { useStarted } from "./use-started.ts";

export type TestDatabase = ReturnType<typeof openTestDatabase>;

/** Where a test's tables are. */
export type Place = {
  readonly url: string;
  /** The databases on the server that `drop` removes. */
  readonly databases: readonly string[];
  /** The URLs of the databases that hold the accounts' tables: one a shard. */
  readonly shards: readonly string[];
  /** Reads the log of the vtgate and its vttablets. Absent without Vitess. */
  readLog?(): Promise<string>;
  close(): Promise<void>;
};

/**
 * Creates an empty database, by default on the server that all tests share. On Vitess, each database gets its own
 * vtgate and shards, within a second, because a vtgate cannot create a sharded keyspace.
 */
export async function createTestDatabase(
  serverUrl: string = inject("databaseUrl"),
  { migrated = true }: { migrated?: boolean } = {},
): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  const server = connectTo(serverUrl);
  const count = inject("shards");
  const place =
    count === undefined
      ? await createPlain(server, serverUrl, name)
      : await startShards(serverUrl, name, count);
  if (migrated) await migrate(place.url);
  const database = openTestDatabase(server, place);
  if (migrated && count !== undefined) await waitForColumns(database);
  return database;
}

/** Waits until the vtgate knows the new columns. It learns of them some seconds after the migration. */
async function waitForColumns({ query }: TestDatabase): Promise<void> {
  const added = [
    "name FROM endpoint",
    "return_url FROM session_link",
    "return_url FROM dashboard_session",
    "failed_at FROM delivery_stat",
    "response_headers FROM delivery_attempt",
  ];
  for (const column of added) {
    const isKnown = () => query(`SELECT ${column} LIMIT 1`);
    await vi.waitFor(isKnown, { timeout: 30_000, interval: 100 });
  }
}

/** A database for the tests of a file or group. `serverUrl` names a server that the tests start themselves. */
export const useTestDatabase = (options?: { migrated?: boolean }, serverUrl?: () => string) =>
  useStarted(async () => {
    const database = await createTestDatabase(serverUrl?.(), options);
    return { ...database, stop: database.drop };
  });

/**
 * Opens the databases of a place. `server` is the connection that lists running statements. `drop` removes the
 * databases, and closes the place and `server`.
 */
export function openTestDatabase(server: Pool, place: Place) {
  const own = connectTo(place.url);
  const shards = place.shards.map(connectTo);
  /** Runs one statement, and returns the first column of its rows. */
  async function column<Value>(sql: string, values: unknown[] = []): Promise<Value[]> {
    const [rows] = await own.query({ sql, rowsAsArray: true }, values);
    return (rows as [Value][]).map(([value]) => value);
  }
  return {
    ...{ url: place.url, column, readVitessLog: place.readLog },
    /** Runs one statement, and returns the first column of its first row, if there is one. */
    async value<Value>(sql: string, values: unknown[] = []): Promise<Value | undefined> {
      return (await column<Value>(sql, values))[0];
    },
    /** Runs one statement on a connection that the product does not use. */
    async query<Row>(sql: string, values: unknown[] = []) {
      const [rows] = await own.query(sql, values);
      return rows as Row[];
    },
    /**
     * Runs one statement in each shard, or in the only database, and returns all rows. For statements that a vtgate
     * refuses, such as triggers, table locks and the server's counters.
     */
    async queryShards<Row>(sql: string, values: unknown[] = []) {
      const answers = await Promise.all(shards.map((shard) => shard.query(sql, values)));
      return answers.flatMap(([rows]) => rows as Row[]);
    },
    /**
     * Runs `work` while a table of each shard has a trigger, such as `BEFORE UPDATE ON delivery`. By default each such
     * change fails.
     */
    async withTrigger<Result>(
      when: string,
      work: () => Promise<Result>,
      action = "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'broken off'",
    ): Promise<Result> {
      const everywhere = (sql: string) => Promise.all(shards.map((shard) => shard.query(sql)));
      await everywhere(`CREATE TRIGGER of_test ${when} FOR EACH ROW ${action}`);
      return work().finally(() => everywhere("DROP TRIGGER of_test"));
    },
    /** Tells whether a statement with this beginning runs now or waits for a lock. */
    async isRunning(statement: string) {
      // Filters here, because a `WHERE` would compare with statements of other databases, and MySQL fails at their
      // emoji.
      const [shown] = await server.query("SHOW FULL PROCESSLIST");
      return (shown as { db: string | null; Info: string | null }[]).some(
        ({ db, Info }) =>
          db !== null &&
          place.databases.includes(db) &&
          asVtgateSends(Info ?? "").startsWith(asVtgateSends(statement)),
      );
    },
    async drop() {
      for (const pool of [own, ...shards]) await pool.end();
      await place.close();
      for (const database of place.databases) await server.query(`DROP DATABASE ${database}`);
      await server.end();
    },
  };
}

/** Returns SQL in lower case, without the comment behind the first word, where Vitess puts session settings. */
const asVtgateSends = (sql: string) => sql.replace(/\/\*.*?\*\/ /, "").toLowerCase();

/** Runs `work` on a connection of the product's own kind. */
export async function withProductPool<Result>(
  { url }: Pick<TestDatabase, "url">,
  work: (pool: ProductPool) => Promise<Result>,
): Promise<Result> {
  const pool = createPool(url, 1);
  return work(pool).finally(() => pool.end());
}

/** All values of a row as one text, to search it for secrets. Bytes are shown as latin1 and in hexadecimal. */
export const textOf = (row: object = {}) =>
  Object.values(row)
    .flatMap((value) =>
      Buffer.isBuffer(value) ? [value.toString("latin1"), value.toString("hex")] : `${value}`,
    )
    .join("\n");

export const connectTo = (uri: string) =>
  mysql.createPool({ uri, connectionLimit: 1, supportBigNumbers: true });

async function createPlain(server: Pool, serverUrl: string, name: string): Promise<Place> {
  await server.query(`CREATE DATABASE ${name}`);
  const url = urlOf(serverUrl, name);
  return { url, databases: [name], shards: [url], close: () => Promise.resolve() };
}

async function startShards(mysqlUrl: string, prefix: string, shards: number): Promise<Place> {
  const vitess = await startVitess({
    ...{ env: process.env, progress: createProgress() },
    ...{ mysqlUrl, prefix, shards },
  });
  const databasesOf = (keyspace: Keyspace) => keyspace.shards.map(({ database }) => database);
  const owned = vitess.keyspaces.filter(({ name }) => name === "activity").flatMap(databasesOf);
  return {
    url: vitess.url,
    databases: vitess.keyspaces.flatMap(databasesOf),
    shards: owned.map((database) => urlOf(mysqlUrl, database)),
    readLog: vitess.readLog,
    close: () => vitess.stop(),
  };
}

function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}
