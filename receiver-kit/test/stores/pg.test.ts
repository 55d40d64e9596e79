import { randomUUID } from "node:crypto";
import pg from "pg";
import { expect, it } from "vitest";
import { useStarted } from "../../../test/harness/use-started.ts";
import { createPgTransactionStore, createTable } from "../../src/stores/pg/index.ts";
import { startPostgres } from "../servers/postgres.ts";
import { describeStore } from "./conformance.ts";
import { OPEN_BY_CLIENT } from "./kinds.ts";

/** Instances of a receiver that start at the same time. */
const INSTANCES = 20;

const server = useStarted(startPostgres);

it("lets many instances create the table at once, and later during work", async () => {
  const pool = new pg.Pool({ connectionString: server.url, max: INSTANCES });
  const create = () => createTable(pool);
  await Promise.all(Array.from({ length: INSTANCES }, create));
  const store = createPgTransactionStore(pool);
  expect(await store.runOnce("wev_1", create)).toBe("handled");
  await pool.end();
});

describeStore("pg", { open: () => OPEN_BY_CLIENT.pg(server.url), url: () => server.url });

it("rejects work that hides the failure of its statement, because PostgreSQL then rolls back", async () => {
  const pool = new pg.Pool({ connectionString: server.url });
  const store = createPgTransactionStore(pool);
  const eventId = randomUUID();
  const hiding = store.runOnce(eventId, async ({ client }) => {
    await client.query("SELECT 1 / 0").catch(() => undefined);
  });
  await expect(hiding).rejects.toThrow("rolled back");
  expect(await store.runOnce(eventId, async () => {})).toBe("handled");
  await pool.end();
});

const LOST = [
  [/connection/, undefined],
  ["the work failed", new Error("the work failed")],
] as const;
it.each(LOST)("a connection that is lost amid work fails only the work: %s", async (error, own) => {
  const pool = new pg.Pool({ connectionString: server.url });
  const store = createPgTransactionStore(pool);
  const eventId = randomUUID();
  const losing = store.runOnce(eventId, async ({ client }) => {
    const ended = new Promise((resolve) => client.once("end", resolve));
    const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
    await pool.query("SELECT pg_terminate_backend($1)", [rows[0]?.pid]);
    await ended;
    if (own) throw own;
  });
  await expect(losing).rejects.toThrow(error);
  expect(await store.runOnce(eventId, async () => {})).toBe("handled");
  await pool.end();
});
