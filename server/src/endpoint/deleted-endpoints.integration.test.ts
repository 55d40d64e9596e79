import { AttemptOutcome, WebhookEventKind } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type Services, startServices } from "../../../test/harness/services.ts";

let services: Services;
let accountId: string;
beforeAll(async () => {
  services = await startServices();
});
afterAll(() => services.stop());
beforeEach(async () => {
  accountId = await services.createAccount();
});

async function createEndpoint(): Promise<string> {
  const kinds = { kinds: [WebhookEventKind.DONATION_CREATED] };
  const url = "https://example.com/hook";
  const { endpoint } = await services.endpoints.createEndpoint({ accountId, url, kinds });
  return endpoint?.id ?? "";
}
const deleteEndpoint = (endpointId: string) =>
  services.endpoints.deleteEndpoint({ accountId, endpointId });
async function storedIds(): Promise<string[]> {
  const rows = await services.database.query<{ id: string }>(
    "SELECT id FROM endpoint WHERE account_no = (SELECT account_no FROM account WHERE id = ?)",
    [accountId],
  );
  return rows.map(({ id }) => id).toSorted();
}

it("leave no row behind, however many are created and deleted", async () => {
  const kept = await createEndpoint();
  for (let turn = 0; turn < 200; turn++) await deleteEndpoint(await createEndpoint());
  expect((await storedIds()).length).toBeLessThanOrEqual(2);
  const last = await createEndpoint();
  expect(await storedIds()).toEqual([kept, last].toSorted());
  const { endpoints } = await services.endpoints.listEndpoints({ accountId });
  expect(endpoints.map(({ id }) => id)).toEqual([kept, last]);
});

it("keep their row while a delivery to them runs, and their deliveries after that", async () => {
  const endpointId = await createEndpoint();
  const { deliveryId } = await services.endpoints.sendTest({ accountId, endpointId });
  const sequence = { deliveryId, sequence: 1 };
  await deleteEndpoint(endpointId);
  // It waits in the outbox, then it is handed over, then it has ended.
  const others = [await createEndpoint()];
  expect(await storedIds()).toEqual([endpointId, ...others].toSorted());
  const { sequences } = await services.dispatch.claimDeliveries({ limit: 64 });
  expect(sequences).toMatchObject([sequence]);
  await services.dispatch.markHandedOver({ sequences });
  others.push(await createEndpoint());
  expect(await storedIds()).toEqual([endpointId, ...others].toSorted());
  await services.dispatch.recordAttempt({
    sequence,
    attempt: 1,
    startedAt: timestampFromMs(0),
    duration: {},
    outcome: AttemptOutcome.REJECTED,
  });
  others.push(await createEndpoint());
  expect(await storedIds()).toEqual(others.toSorted());
  const { deliveries } = await services.deliveries.listDeliveries({ accountId, endpointId });
  expect(deliveries).toMatchObject([{ id: deliveryId, endpointId }]);
  await expect(services.deliveries.retryDelivery({ accountId, deliveryId })).rejects.toThrow(
    "is deleted",
  );
});
