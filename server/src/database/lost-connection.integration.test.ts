import type { EventEmitter } from "node:events";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, afterEach, expect, it, vi } from "vitest";
import { useTestDatabase } from "../../../test/harness/database.ts";
import { openDatabaseProxy } from "../../../test/harness/database-proxy.ts";
import { startServices } from "../../../test/harness/services.ts";
import { useStarted } from "../../../test/harness/use-started.ts";
import { findAttempt } from "../dispatch/attempt-store.ts";
import {
  newServiceCredential,
  PERMISSION_NAMES,
} from "../service-credential/service-credential.ts";
import { insertServiceCredential } from "../service-credential/service-credential-store.ts";
import { createServiceCredentials } from "../service-credential/service-credentials.ts";
import { DatabaseTimeoutError } from "./deadline.ts";
import { createPackets } from "./packet.ts";
import { createPool, type Pool, type RowDataPacket } from "./pool.ts";
import { queryWithin } from "./query-within.ts";
import { inTransaction } from "./transaction.ts";

const database = useTestDatabase();
const proxy = useStarted(() => openDatabaseProxy(database.url));
const pools: Pool[] = [];
afterEach(() => void vi.useRealTimers());
afterAll(() => Promise.all(pools.map((pool) => pool.end())));

async function openPool(): Promise<Pool> {
  const pool = createPool(proxy.url, 1);
  pools.push(pool);
  await queryWithin(pool, "SELECT 1", []);
  return pool;
}

/** Makes calls over connections that fall silent. Checks that each fails once the longest deadline has passed. */
async function expectTooLate(longestMs: number, ...calls: readonly (() => Promise<unknown>)[]) {
  proxy.fallSilent();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const failures = calls.map((call) => expect(call()).rejects.toThrow(DatabaseTimeoutError));
  await vi.advanceTimersByTimeAsync(longestMs);
  await Promise.all(failures);
  vi.useRealTimers();
}

it("a connection that stops answering is replaced by another", async () => {
  const forTransactions = await openPool();
  const forStatements = await openPool();
  const packets = createPackets(proxy.url, 1, 2_000);
  const SELECT_ONE = { sql: "SELECT 1 AS one", values: [] };
  const run = async () => (await packets.run([SELECT_ONE]))[0];
  expect(await run()).toEqual([{ one: 1 }]);
  const load = () => findAttempt(forStatements, { accountNo: 1, deliveryId: "nothing", run: 1 }, 1);
  const select = () =>
    inTransaction(forTransactions, async (tx) => (await tx.query("SELECT 1 AS one"))[0]);
  // The second `select` waits for the connection of the first.
  await expectTooLate(30_000, select, select, load, run);
  expect(await select()).toEqual([{ one: 1 }]);
  expect(await load()).toBeUndefined();
  expect(await run()).toEqual([{ one: 1 }]);
  await packets.close();
  const begunMs = performance.now();
  const failing = inTransaction(forTransactions, async () => {
    proxy.fallSilent();
    throw new Error("a statement failed");
  });
  await expect(failing).rejects.toThrow("a statement failed");
  // On its own, the server would end the silent session later.
  expect(performance.now() - begunMs).toBeLessThan(10_000);
  expect(await select()).toEqual([{ one: 1 }]);
});

it("is closed without harm when the driver reports two errors of one connection", async () => {
  const pool = await openPool();
  const failing = inTransaction(pool, async (tx) => {
    // The driver emits this error when the server says why it ends the session.
    const { connection } = tx as unknown as { readonly connection: EventEmitter };
    connection.emit("error", new Error("the server ended the session"));
    throw new Error("a statement failed");
  });
  await expect(failing).rejects.toThrow("a statement failed");
  expect(await queryWithin(pool, "SELECT 1 AS one", [])).toEqual([{ one: 1 }]);
});

it("looks a service credential up again after the connection was lost during its look-up", async () => {
  const pool = await openPool();
  const { secret, hash } = newServiceCredential();
  const permissions = new Set(PERMISSION_NAMES);
  const credential = { name: "asks-over-silence", permissions, accountId: undefined };
  await insertServiceCredential(pool, credential, 1, hash);
  const credentials = createServiceCredentials(pool, () => performance.now());
  const find = () => credentials.find(secret, async () => {});
  await expectTooLate(10_000, find, find);
  expect((await find())?.name).toBe(credential.name);
});

it("makes the server end a session that is idle in a transaction: after 15 s on MariaDB, 90 s on MySQL", async () => {
  const packets = createPackets(proxy.url, 1, 3_000);
  const pool = await openPool();
  const asks = [
    async (sql: string) => (await packets.run([{ sql, values: [] }]))[0] ?? [],
    (sql: string) => queryWithin<RowDataPacket[]>(pool, sql, []),
  ];
  for (const [index, ask] of asks.entries()) {
    const [server] = await ask("SELECT VERSION() AS version");
    const rows = await ask(
      `SHOW VARIABLES WHERE Variable_name IN ('wait_timeout', 'idle_transaction_timeout',
        'lock_wait_timeout', 'innodb_lock_wait_timeout')`,
    );
    // A wait for a row ends before the statement's deadline. A wait for a table ends soon after it.
    const [row, table] = [["2", "4"] as const, ["8", "12"] as const][index] ?? [];
    expect(
      Object.fromEntries(rows.map(({ Variable_name, Value }) => [Variable_name, Value])),
    ).toEqual({
      ...(`${server?.version}`.includes("MariaDB") && { idle_transaction_timeout: "15" }),
      ...{ wait_timeout: "90", lock_wait_timeout: table, innodb_lock_wait_timeout: row },
    });
  }
  await packets.close();
});

/** Shortens two of the timeouts above, so that the server soon ends a silent session. */
const END_SOON = "SET SESSION wait_timeout = 6 /*M!100303 , idle_transaction_timeout = 6 */";

it("unlocks an account when a host vanishes between the two packets of a write", async () => {
  const services = await startServices();
  const between = await openDatabaseProxy(services.database.url);
  const vanishing = createPackets(between.url, 1, 2_000);
  await vanishing.run([{ sql: END_SOON, values: [] }]);
  const accountId = await services.createAccount();
  const lock = {
    sql: "SELECT account_no FROM account WHERE id = ? FOR UPDATE",
    values: [accountId],
  };
  const rename = { sql: "UPDATE account SET display_name = 'x' WHERE id = ?", values: [accountId] };
  const write = vanishing.loadAndStore([lock], () => {
    between.fallSilent();
    return { statements: [rename], result: undefined };
  });
  await expect(write).rejects.toThrow(DatabaseTimeoutError);
  const donation = { accountId, externalId: "waits", amountCents: 500n, currency: "eur" };
  const donatedAt = timestampFromMs(1_600_000_000_000);
  // A call that waits too long for the account fails. Callers repeat it, and so does this test.
  const create = () =>
    services.donations.createDonation({ ...donation, donatedAt }).then(
      () => "stored",
      (error: Error) => error.message,
    );
  const free = "SELECT 1 FROM account WHERE id = ? FOR UPDATE SKIP LOCKED";
  expect(await services.database.query(free, [accountId])).toEqual([]);
  await expect.poll(create).toBe("stored");
  await vanishing.close();
  await between.stop();
  await services.stop();
});
