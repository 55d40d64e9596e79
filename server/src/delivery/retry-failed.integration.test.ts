import { DeliveryState } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { beforeEach, expect, it } from "vitest";
import { writeDeliveries } from "../../../test/harness/backlog.ts";
import { useServices } from "../../../test/harness/services.ts";
import { retryFailed } from "./retry-failed.ts";

/** Three batches; all of one state are of one event, so that they share their time. */
const BACKLOG = [
  { state: DeliveryState.FAILED, count: 700 },
  { state: DeliveryState.CANCELED, count: 300 },
  { state: DeliveryState.PAUSED, count: 200 },
];
const ALL = 1_200;

const services = useServices();
let accountId: string;
let endpointId: string;
beforeEach(async () => {
  for (const table of ["outbox_entry", "delivery", "webhook_event"]) {
    await services.database.query(`DELETE FROM ${table}`);
  }
  accountId = await services.createAccount();
  endpointId = await services.createEndpoint(accountId);
  for (const { state, count } of BACKLOG) {
    const backlog = { accountId, endpointIds: [endpointId], count };
    await writeDeliveries(services.database, backlog, { state, attempts: 1 });
  }
});

const runs = () =>
  services.database.query<{ run: number; deliveries: number }>(
    "SELECT run, COUNT(*) AS deliveries FROM delivery GROUP BY run ORDER BY run",
  );

it("begins one run of each delivery, also when every one fails again at once", async () => {
  const again = `CREATE TRIGGER fails_again BEFORE UPDATE ON delivery FOR EACH ROW
    SET NEW.state = IF(NEW.run > OLD.run, ${DeliveryState.FAILED}, NEW.state)`;
  await services.database.queryShards(again);
  try {
    const range = { since: timestampFromMs(0), until: timestampFromMs(4e12) };
    const call = { accountId, endpointId, ...range };
    const signal = AbortSignal.timeout(30_000);
    const { retried } = await services.deliveries.retryFailedDeliveries(call, { signal });
    expect(retried).toBe(BigInt(ALL));
    expect(await runs()).toEqual([{ run: 2, deliveries: ALL }]);
  } finally {
    await services.database.queryShards("DROP TRIGGER fails_again");
  }
});

it("begins no further batch once its caller is gone", async () => {
  const caller = new AbortController();
  const { outbox, pool, writer } = services;
  const notified = { ...outbox, attempts: { ...outbox.attempts, notify: () => caller.abort() } };
  const range = { since: 0, until: 4e15 };
  const failed = { accountId, endpointId, range, includeDelivered: false };
  expect(await retryFailed(pool, writer, failed, notified, caller.signal)).toBe(500);
  expect(await runs()).toEqual([
    { run: 1, deliveries: ALL - 500 },
    { run: 2, deliveries: 500 },
  ]);
});

it.each([
  ["switched off", "switched_on = FALSE"],
  ["deleted", "switched_on = FALSE, deleted_at = 1"],
])("counts what it has begun when the endpoint is %s in the middle", async (_, change) => {
  // Committed with the first batch, so before the second.
  await services.database.queryShards(
    `CREATE TRIGGER ends_endpoint AFTER UPDATE ON delivery FOR EACH ROW
     UPDATE endpoint SET ${change} WHERE id = NEW.endpoint_id`,
  );
  try {
    const range = { since: timestampFromMs(0), until: timestampFromMs(4e12) };
    const call = { accountId, endpointId, ...range };
    const { retried } = await services.deliveries.retryFailedDeliveries(call);
    expect(retried).toBe(500n);
    expect(await runs()).toEqual([
      { run: 1, deliveries: ALL - 500 },
      { run: 2, deliveries: 500 },
    ]);
    await expect(services.deliveries.retryFailedDeliveries(call)).rejects.toThrow();
  } finally {
    await services.database.queryShards("DROP TRIGGER ends_endpoint");
  }
});
