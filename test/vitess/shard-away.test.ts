import { afterAll, expect, inject, it } from "vitest";
import { createFeedChanges } from "../../server/src/feed-change/feed-changes.ts";
import { createPaidDonation } from "../harness/builders.ts";
import { connectTo } from "../harness/database.ts";
import { useServices } from "../harness/services.ts";

/** The number of accounts: enough that each of two shards has some of them. */
const ACCOUNTS = 12;

const services = useServices();
/** The MySQL with the shards' databases. */
const server = connectTo(inject("databaseUrl"));
afterAll(() => server.end());

it("ADR 0048: a missing shard delays the deliveries and changes of its own accounts only, until it is back", async () => {
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
  const [missing = ""] = shards.keys();
  const deliveriesOf = (isMissing: boolean) =>
    placed
      .filter(({ shard }) => (shard === missing) === isMissing)
      .map(({ id }) => waiting.get(id))
      .toSorted();

  await server.query(`RENAME TABLE ${missing}.outbox_entry TO ${missing}.out_of_reach`);
  expect((await services.claim()).toSorted()).toEqual(deliveriesOf(false));
  await server.query(`RENAME TABLE ${missing}.out_of_reach TO ${missing}.outbox_entry`);
  expect((await services.claim()).toSorted()).toEqual(deliveriesOf(true));

  // Watches as another core does. It has not made the changes, so it has to look for them.
  const changes = createFeedChanges(services.pool, services.log, () => performance.now());
  const batches = changes.watch(new AbortController().signal);
  const changed = placed.find(({ shard }) => shard !== missing)?.id ?? "";
  await server.query(`RENAME TABLE ${missing}.account TO ${missing}.out_of_reach`);
  await createPaidDonation(services, changed);
  const found = async () => ((await batches.next()).value ?? []).map(({ accountId }) => accountId);
  await expect.poll(found).toEqual([changed]);
  await server.query(`RENAME TABLE ${missing}.out_of_reach TO ${missing}.account`);
  const back = placed.find(({ shard }) => shard === missing)?.id ?? "";
  await createPaidDonation(services, back);
  await expect.poll(found).toEqual([back]);
  changes.close();
});
