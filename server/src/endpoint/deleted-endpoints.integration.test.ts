import { AttemptOutcome, DeliveryState } from "@activity/proto";
import { beforeEach, expect, it } from "vitest";
import { writeDeliveries } from "../../../test/harness/backlog.ts";
import { createPaidDonation } from "../../../test/harness/builders.ts";
import { rowCounterOf } from "../../../test/harness/row-reads.ts";
import { useServices } from "../../../test/harness/services.ts";
import { accountNoOf } from "../common/ids.ts";

const services = useServices();
let accountId: string;
beforeEach(async () => {
  accountId = await services.createAccount();
});

const createEndpoint = () => services.createEndpoint(accountId);
const deleteEndpoint = (endpointId: string) =>
  services.endpoints.deleteEndpoint({ accountId, endpointId });
async function storedIds(): Promise<string[]> {
  const sql = "SELECT id FROM endpoint WHERE account_no = ?";
  const ids = await services.database.column<string>(sql, [accountNoOf(accountId)]);
  return ids.toSorted();
}

it("deleted endpoints leave no rows behind, however many there are", async () => {
  const kept = await createEndpoint();
  for (let turn = 0; turn < 20; turn++) await deleteEndpoint(await createEndpoint());
  expect((await storedIds()).length).toBeLessThanOrEqual(2);
  const last = await createEndpoint();
  expect(await storedIds()).toEqual([kept, last].toSorted());
  const { endpoints } = await services.endpoints.listEndpoints({ accountId });
  expect(endpoints.map(({ id }) => id)).toEqual([kept, last]);
});

it("a deleted endpoint keeps its row while a delivery to it runs, and its deliveries after that", async () => {
  const endpointId = await createEndpoint();
  const run = await services.sendTest(accountId, endpointId);
  const { deliveryId } = run;
  expect(await services.claim()).toEqual([deliveryId]);
  await deleteEndpoint(endpointId);
  // A later event gets no delivery to the deleted endpoint.
  await createPaidDonation(services, accountId);
  // The first attempt is in flight, then a retry follows, then the run has ended.
  const others = [await createEndpoint()];
  expect(await storedIds()).toEqual([endpointId, ...others].toSorted());
  await services.record(run, AttemptOutcome.TIMEOUT, { retryIn: { seconds: 60n } });
  others.push(await createEndpoint());
  expect(await storedIds()).toEqual([endpointId, ...others].toSorted());
  expect(await services.dispatch.loadAttempt({ run, attempt: 2 })).toMatchObject({
    step: { case: "ended" },
  });
  others.push(await createEndpoint());
  expect(await storedIds()).toEqual(others.toSorted());
  const { deliveries } = await services.deliveries.listDeliveries({ accountId, endpointId });
  expect(deliveries).toMatchObject([{ id: deliveryId, endpointId }]);
  await expect(services.deliveries.retryDelivery({ accountId, deliveryId })).rejects.toThrow(
    "is deleted",
  );
});

it("a write reads no ended delivery of a deleted endpoint", async () => {
  const endpointId = await createEndpoint();
  const backlog = { accountId, endpointIds: [endpointId], count: 10_000 };
  await writeDeliveries(services.database, backlog, { state: DeliveryState.FAILED, attempts: 1 });
  const rowsRead = await rowCounterOf(services.database, "delivery");
  await deleteEndpoint(endpointId);
  const before = await rowsRead();
  await createEndpoint();
  expect((await rowsRead()) - before).toBeLessThan(10);
  expect(await storedIds()).not.toContain(endpointId);
});
