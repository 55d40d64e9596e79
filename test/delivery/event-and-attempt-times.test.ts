import { DeliveryService, DeliveryState, DonationService } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { beforeEach, expect, it } from "vitest";
import { createApiKey, unique } from "../harness/builders.ts";
import type { PageJson } from "../harness/json.ts";
import { bodyOf, expectVerified, headerOf, useDeliveryStack } from "./harness-deliveries.ts";
import type { ReceivedRequest } from "./harness-receiver.ts";
import { answer } from "./harness-receiver-behaviours.ts";

const delivery = useDeliveryStack(answer(200));
let accountId: string;
let secret: string;
beforeEach(async () => {
  ({ accountId, secret } = await delivery.createOwner());
});

const settled = { timeout: 15_000, interval: 20 };
const donations = () => delivery.stack.client(DonationService);
const timestampOf = (request: ReceivedRequest) => Number(headerOf(request, "Service-Timestamp"));
const statesOf = () => delivery.statesOf(accountId);

/** The database's clock, as the product shows times. */
async function databaseTime(): Promise<string> {
  const [row] = await delivery.stack.database.query<{ now: string }>(
    "SELECT DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%dT%H:%i:%s.%fZ') AS now",
  );
  return row?.now ?? "";
}

/** Creates a donation that occurred years ago and is paid now. */
async function pay() {
  const key = { accountId, externalId: unique("donation") };
  const donatedAt = timestampFromMs(1_600_000_000_000);
  await donations().createDonation({ ...key, amountCents: 500n, currency: "eur", donatedAt });
  const { donation } = await donations().payDonation(key);
  return { ...key, recordId: donation?.recordId ?? "" };
}

/** Waits for `count` requests that tell of a donation, and returns them in the order of their arrival. */
async function receive(recordId: string, count: number): Promise<ReceivedRequest[]> {
  await expect.poll(() => delivery.requestsAbout(recordId).length, settled).toBe(count);
  return delivery.requestsAbout(recordId);
}

/** Waits until an attempt that is begun now has another timestamp than this request. */
const untilLaterThan = (request: ReceivedRequest) =>
  expect
    .poll(() => Math.floor(Date.now() / 1000), settled)
    .toBeGreaterThan(timestampOf(request) + 1);

it("§6.2 created_at of a payment is when it was paid, which is the activity's recorded_at", async () => {
  const { text: apiKey } = await createApiKey(delivery.stack, accountId);
  const before = await databaseTime();
  const { recordId } = await pay();
  const after = await databaseTime();
  const [request] = await receive(recordId, 1);
  const { created_at, data } = request ? bodyOf(request) : undefined;
  expect(created_at >= before && created_at <= after).toBe(true);
  const page = await delivery.stack.http("/api/v1/activity", { apiKey });
  const [activity] = page.json<PageJson>().data;
  expect([created_at, data.paid_at]).toEqual([activity?.recorded_at, activity?.recorded_at]);
});

it("§6.2 created_at of each later change is the time of that change, not of the payment or the attempt", async () => {
  const { recordId, ...key } = await pay();
  const [paid] = await receive(recordId, 1);
  if (paid === undefined) throw new Error("no request");
  await untilLaterThan(paid);
  const times = [await databaseTime()];
  await donations().refundDonation({ ...key, refundExternalId: "r", amountCents: 100n });
  times.push(await databaseTime());
  await donations().openDispute({ ...key, disputeExternalId: "d" });
  times.push(await databaseTime());
  const requests = await receive(recordId, 3);
  const created = new Map(
    requests.map((request) => [bodyOf(request).type, bodyOf(request).created_at]),
  );
  const [beforeRefund = "", betweenBoth = "", afterDispute = ""] = times;
  const refunded = created.get("donation.refunded");
  const disputed = created.get("donation.chargeback");
  expect(bodyOf(paid).created_at < beforeRefund).toBe(true);
  expect([beforeRefund, refunded, betweenBoth, disputed, afterDispute]).toEqual(
    [beforeRefund, refunded, betweenBoth, disputed, afterDispute].toSorted(),
  );
});

it("§6.4 a manual retry has the same event id, bytes and created_at, and a timestamp and signature of its own", async () => {
  delivery.receiver.behaviour = answer(404);
  const { recordId } = await pay();
  const [first] = await receive(recordId, 1);
  if (first === undefined) throw new Error("no request");
  await expect.poll(statesOf, settled).toEqual([DeliveryState.FAILED]);
  await untilLaterThan(first);
  delivery.receiver.behaviour = answer(200);
  const beforeSeconds = Math.floor(Date.now() / 1000);
  const deliveries = delivery.stack.client(DeliveryService);
  const [{ id: deliveryId } = { id: "" }] = (await deliveries.listDeliveries({ accountId }))
    .deliveries;
  await deliveries.retryDelivery({ accountId, deliveryId });
  const [, second] = await receive(recordId, 2);
  if (second === undefined) throw new Error("no second request");
  await expect.poll(statesOf, settled).toEqual([DeliveryState.DELIVERED]);

  expect(second.body).toEqual(first.body);
  for (const name of ["Service-Event-Id", "Service-Attempt"]) {
    expect(headerOf(second, name)).toBe(headerOf(first, name));
  }
  expect(headerOf(second, "Service-Attempt")).toBe("1");
  expect(timestampOf(second)).toBeGreaterThanOrEqual(beforeSeconds);
  expect(headerOf(second, "Service-Signature")).not.toBe(headerOf(first, "Service-Signature"));
  for (const request of [first, second]) expectVerified(request, secret);
});
