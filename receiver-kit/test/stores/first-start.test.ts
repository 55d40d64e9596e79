import mysql from "mysql2/promise";
import pg from "pg";
import { expect, it } from "vitest";
import * as mysqlStores from "../../src/stores/mysql2/index.ts";
import * as pgStores from "../../src/stores/pg/index.ts";
import { startMysql } from "../servers/mysql.ts";
import { startPostgres } from "../servers/postgres.ts";

const INSTANCES = 20;

// Every instance of a receiver creates the table when it starts.
const startInstances = (createTable: () => Promise<void>) =>
  Promise.all(Array.from({ length: INSTANCES }, createTable));

it("lets many instances create the table in PostgreSQL at once, and later beside work", async () => {
  const server = await startPostgres();
  const pool = new pg.Pool({ connectionString: server.url, max: INSTANCES });
  await startInstances(() => pgStores.createTable(pool));
  const outcome = await pgStores.createPgTransactionStore(pool).runOnce("wev_1", async () => {
    await pgStores.createTable(pool);
  });
  expect(outcome).toBe("handled");
  await pool.end();
  await server.stop();
});

it("lets many instances create the table in MySQL at once, and later beside work", async () => {
  const server = await startMysql();
  const pool = mysql.createPool({ uri: server.url, connectionLimit: INSTANCES });
  await startInstances(() => mysqlStores.createTable(pool));
  const outcome = await mysqlStores.createMysqlTransactionStore(pool).runOnce("wev_1", async () => {
    await mysqlStores.createTable(pool);
  });
  expect(outcome).toBe("handled");
  await pool.end();
  await server.stop();
});
