import { AttemptOutcome, WebhookEventKind } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Services, startServices } from "../../../test/harness/services.ts";
import { removeOldDeliveries } from "./delivery-removal.ts";

let services: Services;
beforeAll(async () => {
  services = await startServices();
});
afterAll(() => services.stop());

const RETENTION_MICROS = 30 * 86_400_000_000;

it("removes what is old and has ended, and keeps what is young or under way", async () => {
  const accountId = await services.createAccount();
  const kinds = { kinds: [WebhookEventKind.DONATION_CREATED] };
  const url = "https://example.com/";
  const { endpoint } = await services.endpoints.createEndpoint({ accountId, url, kinds });
  const endpointId = endpoint?.id ?? "";
  const send = async (outcome?: AttemptOutcome, retried = false) => {
    const { deliveryId } = await services.endpoints.sendTest({ accountId, endpointId });
    if (outcome !== undefined) {
      await services.dispatch.recordAttempt({
        sequence: { deliveryId, sequence: 1 },
        attempt: 1,
        startedAt: timestampFromMs(0),
        duration: {},
        outcome,
        ...(retried && { retryIn: { seconds: 60n } }),
      });
    }
    return deliveryId;
  };
  await send(AttemptOutcome.DELIVERED);
  await send(AttemptOutcome.REJECTED);
  const underWay = [await send(AttemptOutcome.TIMEOUT, true), await send()];
  for (const table of ["delivery", "webhook_event"]) {
    await services.database.query(`UPDATE ${table} SET created_at = created_at - ?`, [
      RETENTION_MICROS,
    ]);
  }
  const young = await send(AttemptOutcome.DELIVERED);
  await removeOldDeliveries(services.pool, RETENTION_MICROS);
  const { deliveries } = await services.deliveries.listDeliveries({ accountId });
  expect(deliveries.map(({ id }) => id).toSorted()).toEqual([...underWay, young].toSorted());
  const count = async (table: string) =>
    (await services.database.query(`SELECT 1 FROM ${table}`)).length;
  expect([await count("webhook_event"), await count("delivery_attempt")]).toEqual([3, 2]);
  // No relay has marked any of them: those that are gone have left nothing to claim.
  const entries = await services.database.query<{ delivery_id: string }>(
    "SELECT delivery_id FROM outbox_entry",
  );
  const left = entries.map((entry) => entry.delivery_id);
  expect(left.toSorted()).toEqual([...underWay, young].toSorted());
});
