import { DeliveryState, WebhookEventKind } from "@activity/proto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { writeDeliveries, writeWaiting } from "../../../test/delivery/harness-backlog.ts";
import { type Services, startServices } from "../../../test/harness/services.ts";

let services: Services;
beforeAll(async () => {
  services = await startServices();
});
afterAll(() => services.stop());

it("waits for no delivery but those that it hands over", async () => {
  const accountId = await services.createAccount();
  const kinds = { kinds: [WebhookEventKind.DONATION_CREATED] };
  const url = "https://example.com/hook";
  const { endpoint } = await services.endpoints.createEndpoint({ accountId, url, kinds });
  const backlog = (prefix: string, count: number) => ({
    accountId,
    endpointIds: [endpoint?.id ?? ""],
    count,
    prefix,
  });
  const ended = { state: DeliveryState.DELIVERED, attempts: 1 };
  await writeDeliveries(services.database, backlog("ended00000", 5_000), ended);
  await writeWaiting(services.database, backlog("waiting000", 65));
  // So that the planner knows how few wait, and would rather look them up than 64 ids.
  for (const table of ["delivery", "outbox_entry"]) {
    await services.database.query(`ANALYZE TABLE ${table}`);
  }
  const { sequences } = await services.dispatch.claimDeliveries({ limit: 64 });
  expect(sequences).toHaveLength(64);
  const [left] = await services.database.query<{ id: string }>(
    "SELECT delivery_id AS id FROM outbox_entry WHERE delivery_id NOT IN (?)",
    [sequences.map(({ deliveryId }) => deliveryId)],
  );
  expect(left).toBeDefined();
  const other = await services.pool.getConnection();
  try {
    await other.query("START TRANSACTION");
    await other.query("SELECT 1 FROM delivery WHERE id = ? FOR UPDATE", [left?.id]);
    // Waiting for a lock fails after ten seconds.
    await services.dispatch.markHandedOver({ sequences });
  } finally {
    await other.query("ROLLBACK");
    other.release();
  }
});
