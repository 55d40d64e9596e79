import { randomUUID } from "node:crypto";
import { createPool } from "mysql2/promise";
import { expect, it, vi } from "vitest";
import { useStarted } from "../../../test/harness/use-started.ts";
import {
  createMysqlClaims,
  createMysqlTransactionStore,
  createTable,
} from "../../src/stores/mysql2/index.ts";
import { startMysql } from "../servers/mysql.ts";
import { describeStore } from "./conformance.ts";
import { OPEN_BY_CLIENT } from "./kinds.ts";

/** Instances of a receiver that start at the same time. */
const INSTANCES = 20;

const server = useStarted(() => {
  // The tests must not use a database that the environment names. This file does not exist, so a start that used it
  // would fail.
  vi.stubEnv("DATABASE_URL_FILE", "/no/such/file");
  return startMysql().finally(() => vi.unstubAllEnvs());
});

it("lets many instances create the table at once, and later during work", async () => {
  const pool = createPool({ uri: server.url, connectionLimit: INSTANCES });
  const create = () => createTable(pool);
  await Promise.all(Array.from({ length: INSTANCES }, create));
  const store = createMysqlTransactionStore(pool);
  expect(await store.runOnce("wev_1", create)).toBe("handled");
  await pool.end();
});

describeStore("mysql2", { open: () => OPEN_BY_CLIENT.mysql2(server.url), url: () => server.url });

it("rejects work that hides a deadlock, because InnoDB then rolls the mark back", async () => {
  const pool = createPool(server.url);
  const other = await pool.getConnection();
  await pool.query("CREATE TABLE deadlock (id INT PRIMARY KEY, n INT)");
  await pool.query("INSERT INTO deadlock VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0)");
  const store = createMysqlTransactionStore(pool);
  const eventId = randomUUID();
  const numbers: unknown[] = [];
  const hiding = store.runOnce(eventId, async ({ connection }) => {
    await connection.query("UPDATE deadlock SET n = 1 WHERE id = 1");
    // The transaction that changed more rows survives.
    await other.beginTransaction();
    await other.query("UPDATE deadlock SET n = 2 WHERE id > 1");
    const survivor = other.query("UPDATE deadlock SET n = 2 WHERE id = 1");
    const note = (error: { errno?: number }) => numbers.push(error.errno);
    await connection.query("UPDATE deadlock SET n = 1 WHERE id = 2").catch(note);
    await survivor;
    await other.rollback();
  });
  await expect(hiding).rejects.toThrow("rolled back");
  expect(numbers).toEqual([1213]);
  expect(await store.runOnce(eventId, async () => {})).toBe("handled");
  other.release();
  await pool.end();
});

it("rejects with the work's error when the connection is lost, and loses only this connection", async () => {
  const pool = createPool({ uri: server.url, connectionLimit: 1 });
  const store = createMysqlTransactionStore(pool);
  const eventId = randomUUID();
  const losing = store.runOnce(eventId, async ({ connection }) => {
    connection.destroy();
    throw new Error("the work failed");
  });
  await expect(losing).rejects.toThrow("the work failed");
  expect(await store.runOnce(eventId, async () => {})).toBe("handled");
  await pool.end();
});

it.each([{ rowsAsArray: true, typeCast: false }, { nestTables: true }])(
  "understands rows of a pool with the options %j",
  async (options) => {
    const pool = createPool({ uri: server.url, ...options });
    const claims = createMysqlClaims(pool);
    const eventId = randomUUID();
    expect(await claims.claim(eventId, "owner", 60_000)).toBe("claimed");
    expect(await claims.claim(eventId, "another", 60_000)).toBe("held");
    expect(await claims.complete(eventId, "owner", 60_000)).toBe(true);
    expect(await claims.claim(eventId, "another", 60_000)).toBe("done");
    expect(await claims.keepNewest(`record ${eventId}`, "2026", 0)).toBe("2026");
    expect(await claims.deleteExpired(1)).toBe(1);
    await pool.end();
  },
);
