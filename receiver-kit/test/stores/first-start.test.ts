import mysql from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as mysqlStores from "../../src/stores/mysql2/index.ts";
import * as pgStores from "../../src/stores/pg/index.ts";
import { type RunningMysql, startMysql } from "../servers/mysql.ts";
import { type RunningPostgres, startPostgres } from "../servers/postgres.ts";

const INSTANCES = 20;

let pgServer: RunningPostgres;
let mysqlServer: RunningMysql;
beforeAll(async () => {
  pgServer = await startPostgres();
  mysqlServer = await startMysql();
});
afterAll(() => Promise.all([pgServer?.stop(), mysqlServer?.stop()]));

// Every instance of a receiver creates the table when it starts.
const startInstances = (createTable: () => Promise<void>) =>
  Promise.all(Array.from({ length: INSTANCES }, createTable));

it("lets many instances create the table in PostgreSQL at once, and later during work", async () => {
  const pool = new pg.Pool({ connectionString: pgServer.url, max: INSTANCES });
  await startInstances(() => pgStores.createTable(pool));
  const outcome = await pgStores.createPgTransactionStore(pool).runOnce("wev_1", async () => {
    await pgStores.createTable(pool);
  });
  expect(outcome).toBe("handled");
  await pool.end();
});

it("lets many instances create the table in MySQL at once, and later during work", async () => {
  const pool = mysql.createPool({ uri: mysqlServer.url, connectionLimit: INSTANCES });
  await startInstances(() => mysqlStores.createTable(pool));
  const outcome = await mysqlStores.createMysqlTransactionStore(pool).runOnce("wev_1", async () => {
    await mysqlStores.createTable(pool);
  });
  expect(outcome).toBe("handled");
  await pool.end();
});
