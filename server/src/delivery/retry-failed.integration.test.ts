import { DeliveryState, WebhookEventKind } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { writeDeliveries } from "../../../test/delivery/harness-backlog.ts";
import { type Services, startServices } from "../../../test/harness/services.ts";
import { createOutboxSignal } from "./outbox-signal.ts";
import { retryFailed } from "./retry-failed.ts";

/** Three batches; all of one event, so that they share their time. */
const BACKLOG = [
  { prefix: "failed0000", state: DeliveryState.FAILED, count: 700 },
  { prefix: "canceled00", state: DeliveryState.CANCELED, count: 300 },
  { prefix: "held000000", state: DeliveryState.HELD, count: 200 },
];
const ALL = 1_200;

let services: Services;
let accountId: string;
let endpointId: string;
beforeAll(async () => {
  services = await startServices();
});
afterAll(() => services.stop());
beforeEach(async () => {
  for (const table of ["outbox_entry", "delivery", "webhook_event"]) {
    await services.database.query(`DELETE FROM ${table}`);
  }
  accountId = await services.createAccount();
  const kinds = { kinds: [WebhookEventKind.DONATION_CREATED] };
  const url = "https://example.com/hook";
  const { endpoint } = await services.endpoints.createEndpoint({ accountId, url, kinds });
  endpointId = endpoint?.id ?? "";
  for (const { prefix, state, count } of BACKLOG) {
    const backlog = { accountId, endpointIds: [endpointId], prefix, count };
    await writeDeliveries(services.database, backlog, { state, attempts: 1 });
  }
});

const sequences = () =>
  services.database.query<{ sequence: number; deliveries: number }>(
    "SELECT sequence, COUNT(*) AS deliveries FROM delivery GROUP BY sequence ORDER BY sequence",
  );

it("begins one sequence of each delivery, also when every one fails again at once", async () => {
  const again = `CREATE TRIGGER fails_again BEFORE UPDATE ON delivery FOR EACH ROW
    SET NEW.state = IF(NEW.sequence > OLD.sequence, ${DeliveryState.FAILED}, NEW.state)`;
  await services.database.query(again);
  try {
    const range = { since: timestampFromMs(0), until: timestampFromMs(4e12) };
    const call = { accountId, endpointId, ...range };
    const signal = AbortSignal.timeout(30_000);
    const { retried } = await services.deliveries.retryFailedDeliveries(call, { signal });
    expect(retried).toBe(BigInt(ALL));
    expect(await sequences()).toEqual([{ sequence: 2, deliveries: ALL }]);
  } finally {
    await services.database.query("DROP TRIGGER fails_again");
  }
});

it("begins no further batch once its caller is gone", async () => {
  const caller = new AbortController();
  const outbox = { ...createOutboxSignal(), notify: () => caller.abort() };
  const failed = { accountId, endpointId, range: { since: 0, until: 4e15 } };
  expect(await retryFailed(services.pool, failed, outbox, caller.signal)).toBe(500);
  expect(await sequences()).toEqual([
    { sequence: 1, deliveries: ALL - 500 },
    { sequence: 2, deliveries: 500 },
  ]);
});

it.each([
  ["switched off", "switched_on = FALSE"],
  ["deleted", "switched_on = FALSE, deleted_at = 1"],
])("counts what it has begun when the endpoint is %s in the middle", async (_, change) => {
  // Committed with the first batch, so before the second.
  await services.database.query(
    `CREATE TRIGGER ends_endpoint AFTER UPDATE ON delivery FOR EACH ROW
     UPDATE endpoint SET ${change} WHERE id = NEW.endpoint_id`,
  );
  try {
    const range = { since: timestampFromMs(0), until: timestampFromMs(4e12) };
    const call = { accountId, endpointId, ...range };
    const { retried } = await services.deliveries.retryFailedDeliveries(call);
    expect(retried).toBe(500n);
    expect(await sequences()).toEqual([
      { sequence: 1, deliveries: ALL - 500 },
      { sequence: 2, deliveries: 500 },
    ]);
    await expect(services.deliveries.retryFailedDeliveries(call)).rejects.toThrow();
  } finally {
    await services.database.query("DROP TRIGGER ends_endpoint");
  }
});
