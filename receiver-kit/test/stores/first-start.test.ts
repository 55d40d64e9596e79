import mysql from "mysql2/promise";
import pg from "pg";
import { expect, it } from "vitest";
import { useStarted } from "../../../test/harness/use-started.ts";
import type { OnceStore } from "../../src/once/once-store.ts";
import * as mysqlStores from "../../src/stores/mysql2/index.ts";
import * as pgStores from "../../src/stores/pg/index.ts";
import { startMysql } from "../servers/mysql.ts";
import { startPostgres } from "../servers/postgres.ts";

const INSTANCES = 20;

const pgServer = useStarted(startPostgres);
const mysqlServer = useStarted(startMysql);

/** Every instance of a receiver creates the table when it starts. */
async function startInstances(createTable: () => Promise<void>, store: OnceStore<unknown>) {
  await Promise.all(Array.from({ length: INSTANCES }, createTable));
  expect(await store.runOnce("wev_1", createTable)).toBe("handled");
}

it("lets many instances create the table in PostgreSQL at once, and later during work", async () => {
  const pool = new pg.Pool({ connectionString: pgServer.url, max: INSTANCES });
  const store = pgStores.createPgTransactionStore(pool);
  await startInstances(() => pgStores.createTable(pool), store);
  await pool.end();
});

it("lets many instances create the table in MySQL at once, and later during work", async () => {
  const pool = mysql.createPool({ uri: mysqlServer.url, connectionLimit: INSTANCES });
  const store = mysqlStores.createMysqlTransactionStore(pool);
  await startInstances(() => mysqlStores.createTable(pool), store);
  await pool.end();
});
