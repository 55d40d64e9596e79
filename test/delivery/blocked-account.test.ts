import { AccountService, DeliveryService, DeliveryState } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { createApiKey, createPaidDonation } from "../harness/builders.ts";
import { expectError } from "../harness/expectations.ts";
import { expectVerified, useDeliveryStack } from "./harness-deliveries.ts";
import { answer } from "./harness-receiver-behaviours.ts";

const EVER = { since: timestampFromMs(0), until: timestampFromMs(4e12) };
const settled = { timeout: 15_000, interval: 50 };

const delivery = useDeliveryStack(answer(200));

/** Waits until a donation of another account was delivered: what may be sent is by now. */
async function deliverAnother(): Promise<void> {
  const { accountId } = await delivery.createOwner();
  const { recordId } = await createPaidDonation(delivery.stack, accountId);
  await expect.poll(() => delivery.requestsAbout(recordId).length, settled).toBe(1);
}

it("§5.6 a blocked account reads nothing and is sent nothing; unblocked, it reads, and may have sent what was paused", async () => {
  const { client } = delivery.stack;
  const { accountId, endpointId, secret } = await delivery.createOwner();
  const { text: apiKey } = await createApiKey(delivery.stack, accountId);
  const read = () => delivery.stack.http("/api/v1/activity", { apiKey });
  await client(AccountService).blockAccount({ accountId });
  const { recordId } = await createPaidDonation(delivery.stack, accountId);
  expectError(await read(), 403, "account_unavailable");
  await deliverAnother();
  expect(await delivery.statesOf(accountId)).toEqual([DeliveryState.PAUSED]);

  await client(AccountService).unblockAccount({ accountId });
  expect((await read()).text).toContain(`don_${recordId}`);
  await deliverAnother();
  expect(delivery.requestsAbout(recordId)).toEqual([]);
  await client(DeliveryService).retryFailedDeliveries({ accountId, endpointId, ...EVER });
  await expect.poll(() => delivery.statesOf(accountId), settled).toEqual([DeliveryState.DELIVERED]);
  const [request, ...more] = delivery.requestsAbout(recordId);
  if (request === undefined) throw new Error("no request");
  expect(more).toEqual([]);
  expectVerified(request, secret);
});
