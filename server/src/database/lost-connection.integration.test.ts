import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/harness/database.ts";
import { type DatabaseProxy, openDatabaseProxy } from "../../../test/harness/database-proxy.ts";
import { findAttempt } from "../dispatch/attempt-store.ts";
import {
  newServiceCredential,
  PERMISSION_NAMES,
} from "../service-credential/service-credential.ts";
import { insertServiceCredential } from "../service-credential/service-credential-store.ts";
import { createServiceCredentials } from "../service-credential/service-credentials.ts";
import { DatabaseTimeoutError } from "./deadline.ts";
import { createPackets } from "./packet.ts";
import { createPool, type Pool } from "./pool.ts";
import { queryWithin } from "./query-within.ts";
import { inTransaction } from "./transaction.ts";

let database: TestDatabase;
let proxy: DatabaseProxy;
const pools: Pool[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await openDatabaseProxy(database.url);
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await proxy.close();
  await database.drop();
});

/** A pool whose one connection is open. */
async function openPool(): Promise<Pool> {
  const pool = createPool(proxy.url, 1);
  pools.push(pool);
  await queryWithin(pool, "SELECT 1", []);
  return pool;
}

it("a connection that falls silent is given up, and what comes after has another", async () => {
  const forTransactions = await openPool();
  const forStatements = await openPool();
  const packets = createPackets(proxy.url, 1, 2_000);
  const SELECT_ONE = { sql: "SELECT 1 AS one", values: [] };
  const run = async () => (await packets.run([SELECT_ONE]))[0];
  expect(await run()).toEqual([{ one: 1 }]);
  const load = () => findAttempt(forStatements, { accountNo: 1, deliveryId: "nothing", run: 1 }, 1);
  const select = () =>
    inTransaction(forTransactions, async (tx) => (await tx.query("SELECT 1 AS one"))[0]);
  proxy.fallSilent();
  await Promise.all([
    expect(select()).rejects.toThrow(DatabaseTimeoutError),
    expect(load()).rejects.toThrow(DatabaseTimeoutError),
    expect(run()).rejects.toThrow(DatabaseTimeoutError),
  ]);
  expect(await select()).toEqual([{ one: 1 }]);
  expect(await load()).toBeUndefined();
  expect(await run()).toEqual([{ one: 1 }]);
  await packets.close();
});

it("looks a service credential up again when the connection was lost during its look-up", async () => {
  const pool = await openPool();
  const { secret, hash } = newServiceCredential();
  const permissions = new Set(PERMISSION_NAMES);
  const credential = { name: "asks-over-silence", permissions, accountId: undefined };
  await insertServiceCredential(pool, credential, 1, hash);
  const credentials = createServiceCredentials(pool, () => performance.now());
  const find = () => credentials.find(secret, async () => {});
  proxy.fallSilent();
  const found = await Promise.allSettled([find(), find()]);
  expect(found.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect((await find())?.name).toBe(credential.name);
});
