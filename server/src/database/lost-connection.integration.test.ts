import net from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/harness/database.ts";
import { createAttemptLoader } from "../delivery/load-attempts.ts";
import { DatabaseTimeoutError } from "./deadline.ts";
import { createPool, type Pool } from "./pool.ts";
import { inTransaction } from "./transaction.ts";

/** A way to the database on which every open connection can fall silent, as when a host loses its power. */
async function openSilentProxy(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const pairs = new Set<[net.Socket, net.Socket]>();
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(target.port), target.hostname);
    client.pipe(upstream).pipe(client);
    pairs.add([client, upstream]);
    for (const socket of [client, upstream]) socket.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = `${(server.address() as net.AddressInfo).port}`;
  return {
    url: url.href,
    fallSilent() {
      for (const [client, upstream] of pairs) {
        client.unpipe(upstream);
        upstream.unpipe(client);
      }
    },
    close() {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      server.close();
    },
  };
}

let database: TestDatabase;
let proxy: Awaited<ReturnType<typeof openSilentProxy>>;
const pools: Pool[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await openSilentProxy(database.url);
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  proxy.close();
  await database.drop();
});

/** A pool whose one connection is open. */
async function openPool(): Promise<Pool> {
  const pool = createPool(proxy.url, 1);
  pools.push(pool);
  await pool.query("SELECT 1");
  return pool;
}

it("a connection that falls silent is given up, and what comes after has another", async () => {
  const forTransactions = await openPool();
  const load = createAttemptLoader(await openPool());
  const key = { deliveryId: "nothing", sequence: 1, attempt: 1 };
  const select = () =>
    inTransaction(forTransactions, async (tx) => (await tx.query("SELECT 1 AS one"))[0]);
  proxy.fallSilent();
  await Promise.all([
    expect(select()).rejects.toThrow(DatabaseTimeoutError),
    expect(load(key)).rejects.toThrow(DatabaseTimeoutError),
  ]);
  expect(await select()).toEqual([{ one: 1 }]);
  expect(await load(key)).toBeUndefined();
});
