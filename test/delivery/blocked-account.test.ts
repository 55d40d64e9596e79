import { AccountService, DeliveryService, DeliveryState } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { createAccount, createApiKey, createPaidDonation } from "../harness/builders.ts";
import { expectError } from "../harness/expectations.ts";
import { expectVerified, useDeliveryStack } from "./harness-deliveries.ts";
import { answer } from "./harness-receiver-behaviours.ts";

const EVER = { since: timestampFromMs(0), until: timestampFromMs(4e12) };

const delivery = useDeliveryStack(answer(200));

const settled = { timeout: 15_000, interval: 50 };
const accounts = () => delivery.stack.client(AccountService);
const deliveries = () => delivery.stack.client(DeliveryService);
/** The requests that tell of a donation. */
const requestsFor = (recordId: string) =>
  delivery.receiver.requests.filter(
    ({ body }) => JSON.parse(body.toString("utf8")).data.id === recordId,
  );

/** Waits until a donation of another account was delivered: what may be sent is by now. */
async function deliverAnother(): Promise<void> {
  const other = await createAccount(delivery.stack);
  await delivery.createEndpoint(other);
  const { recordId } = await createPaidDonation(delivery.stack, other);
  await expect.poll(() => requestsFor(recordId).length, settled).toBe(1);
}

it("§5.6 a blocked account reads nothing and is sent nothing; unblocked, it reads, and may have sent what was paused", async () => {
  const accountId = await createAccount(delivery.stack);
  const { endpointId, secret } = await delivery.createEndpoint(accountId);
  const statesOf = async () =>
    (await deliveries().listDeliveries({ accountId })).deliveries.map(({ state }) => state);
  const { text: apiKey } = await createApiKey(delivery.stack, accountId);
  const read = () => delivery.stack.http("/api/v1/activity", { apiKey });
  await accounts().blockAccount({ accountId });
  const { recordId } = await createPaidDonation(delivery.stack, accountId);
  expectError(await read(), 403, "account_unavailable");
  await deliverAnother();
  expect(await statesOf()).toEqual([DeliveryState.PAUSED]);

  await accounts().unblockAccount({ accountId });
  expect((await read()).text).toContain(`don_${recordId}`);
  await deliverAnother();
  expect(requestsFor(recordId)).toEqual([]);
  await deliveries().retryFailedDeliveries({ accountId, endpointId, ...EVER });
  await expect.poll(statesOf, settled).toEqual([DeliveryState.DELIVERED]);
  const [request, ...more] = requestsFor(recordId);
  if (request === undefined) throw new Error("no request");
  expect(more).toEqual([]);
  expectVerified(request, secret);
});
