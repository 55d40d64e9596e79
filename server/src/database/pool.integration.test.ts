import { tracingChannel } from "node:diagnostics_channel";
import { expect, it } from "vitest";
import { useTestDatabase } from "../../../test/harness/database.ts";
import { createPool, prepareSessions } from "./pool.ts";
import { queryWithin } from "./query-within.ts";
import { inTransaction } from "./transaction.ts";

const database = useTestDatabase();

it("commits each statement, also after a transaction, whatever the server's defaults are", async () => {
  const pool = createPool(database.url, 1);
  pool.pool.prependListener("connection", (connection) => {
    connection.query("SET SESSION autocommit = 0, completion_type = 'CHAIN'");
  });
  const settings = await queryWithin(pool, "SELECT @@autocommit AS committed", []);
  expect(settings).toMatchObject([{ committed: 1 }]);
  await inTransaction(pool, async (tx) => tx.query("SELECT 1"));
  await queryWithin(pool, "UPDATE installation SET id = 'of-a-test'", []);
  await pool.end();
  expect(await database.query("SELECT id FROM installation")).toEqual([{ id: "of-a-test" }]);
});

it("keeps texts exactly, whatever the server's character set is", async () => {
  const pool = createPool(database.url, 1);
  pool.pool.prependListener("connection", (connection) => {
    connection.query("SET NAMES latin1");
  });
  const texts = await queryWithin(pool, "SELECT '😀' AS text, HEX('😀') AS bytes", []);
  expect(texts).toEqual([{ text: "😀", bytes: "F09F9880" }]);
  await pool.end();
});

it.each(["without", "with"])(
  "uses no connection whose session was not set up, %s traces",
  async (traces) => {
    const channel = tracingChannel("mysql2:query");
    const heard = { start: () => undefined };
    // Subscribes as traces do. With a subscriber, the driver reports the failure in another way.
    if (traces === "with") channel.subscribe(heard as never);
    const pool = createPool(database.url, 1);
    prepareSessions(pool, "SET no_such_setting = 1");
    await expect(queryWithin(pool, "SELECT 1", [])).rejects.toThrow();
    await pool.end();
    channel.unsubscribe(heard as never);
  },
);
