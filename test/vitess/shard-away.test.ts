import mysql, { type Connection } from "mysql2/promise";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { type Services, startServices } from "../harness/services.ts";

/** So many that some of them are on each of two shards. */
const ACCOUNTS = 12;

let services: Services;
/** A connection to the MySQL with the shards' databases. */
let server: Connection;
beforeAll(async () => {
  services = await startServices();
  server = await mysql.createConnection(inject("databaseUrl"));
});
afterAll(async () => {
  await server.end();
  await services.stop();
});

it("a shard that is away delays the deliveries of its own accounts only, until it is back, ADR 0048", async () => {
  const waiting = new Map<string, string>();
  for (let made = 0; made < ACCOUNTS; made += 1) {
    const accountId = await services.createAccount();
    const endpointId = await services.createEndpoint(accountId);
    const { deliveryId } = await services.sendTest(accountId, endpointId);
    waiting.set(accountId, deliveryId);
  }
  const placed = await services.database.queryShards<{ shard: string; id: string }>(
    "SELECT DATABASE() AS shard, id FROM account",
  );
  const shards = Map.groupBy(placed, ({ shard }) => shard);
  expect(shards.size).toBeGreaterThan(1);
  const [away = ""] = shards.keys();
  const deliveriesOf = (isAway: boolean) =>
    placed
      .filter(({ shard }) => (shard === away) === isAway)
      .map(({ id }) => waiting.get(id))
      .toSorted();

  await server.query(`RENAME TABLE ${away}.outbox_entry TO ${away}.out_of_reach`);
  expect((await services.claim()).toSorted()).toEqual(deliveriesOf(false));
  await server.query(`RENAME TABLE ${away}.out_of_reach TO ${away}.outbox_entry`);
  expect((await services.claim()).toSorted()).toEqual(deliveriesOf(true));
});
