import * as proto from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { beforeAll, expect, inject, it } from "vitest";
import {
  createAccount,
  createEndpoint,
  createPaidDonation,
  createPlatformEvent,
  importDonations,
  unique,
} from "../harness/builders.ts";
import { openDatabaseProxy } from "../harness/database-proxy.ts";
import { startTestStack } from "../harness/stack.ts";
import { useStarted } from "../harness/use-started.ts";

const at = timestampFromMs(1_600_000_000_000);
const MONEY = { amountCents: 500n, currency: "eur" };
const URL = "https://example.com/hook";
const KINDS = [proto.WebhookEventKind.DONATION_CREATED, proto.WebhookEventKind.DONATION_REFUNDED];

const proxy = useStarted(() => openDatabaseProxy(inject("databaseUrl")));
// With one connection, every statement is prepared once.
const stack = useStarted(() =>
  startTestStack({ serverUrl: proxy.url, env: { DATABASE_CONNECTIONS: "1" } }),
);
let accountId: string;
let endpointId: string;
beforeAll(async () => {
  accountId = await createAccount(stack);
  ({ endpointId } = await createEndpoint(stack, accountId, URL, KINDS));
});

const donations = () => stack.client(proto.DonationService);
const endpoints = () => stack.client(proto.EndpointService);
const accounts = () => stack.client(proto.AccountService);
const deliveries = () => stack.client(proto.DeliveryService);

const nothing = async () => undefined;
const account = () => createAccount(stack);

/** Creates a donation that is not paid. Returns its key. */
async function created() {
  const key = { accountId, externalId: unique("donation") };
  await donations().createDonation({ ...key, ...MONEY, donatedAt: at });
  return key;
}
async function paid() {
  const { externalId } = await createPaidDonation(stack, accountId);
  return { accountId, externalId };
}
async function disputed() {
  const dispute = { ...(await paid()), disputeExternalId: "d" };
  await donations().openDispute(dispute);
  return dispute;
}
async function followed() {
  const key = { platform: proto.Platform.LIVE_PLATFORM_1, externalId: unique("follow") };
  await createPlatformEvent(stack, accountId, key);
  return { accountId, ...key };
}
/** Stores a failed delivery. Returns its key. */
async function failed() {
  await stack.database.query("UPDATE account SET bulk_retried_at = NULL, test_times = NULL");
  const { deliveryId } = await endpoints().sendTest({ accountId, endpointId });
  await stack.database.query("UPDATE delivery SET state = ?, last_outcome = ? WHERE id = ?", [
    ...[proto.DeliveryState.FAILED, proto.AttemptOutcome.REJECTED, deliveryId],
  ]);
  await stack.database.query("DELETE FROM outbox_entry");
  return { accountId, deliveryId };
}

function costs<Prepared>(
  [roundTrips, statements]: readonly [roundTrips: number, statements: number],
  name: string,
  prepare: () => Promise<Prepared>,
  call: (prepared: Prepared) => Promise<unknown>,
) {
  const cost = `${roundTrips} round trips and ${statements} statements`;
  it(`ARCHITECTURE.md: ${name} costs ${cost}`, async () => {
    expect(await proxy.leastCost(call, prepare)).toEqual([roundTrips, statements]);
  });
}

costs([2, 5], "createDonation", nothing, created);
costs([2, 11], "payDonation", created, (key) => donations().payDonation(key));
costs([2, 5], "payDonation again", paid, (key) => donations().payDonation(key));
costs([2, 14], "refundDonation", paid, (key) =>
  donations().refundDonation({ ...key, refundExternalId: "r", amountCents: 100n }),
);
costs([2, 11], "openDispute", paid, (key) =>
  donations().openDispute({ ...key, disputeExternalId: "d" }),
);
costs([2, 11], "resolveDispute", disputed, (key) =>
  donations().resolveDispute({ ...key, outcome: proto.DisputeOutcome.WON }),
);
costs([2, 12], "deleteDonation", paid, (key) => donations().deleteDonation(key));
costs([2, 13], "recordContribution", nothing, () =>
  donations().recordContribution({
    ...{ accountId, externalId: unique("month"), ...MONEY, contributedAt: at },
    subscriptionExternalId: unique("subscription"),
  }),
);
costs([2, 7], "recordPlatformEvent", nothing, followed);
costs([2, 7], "deletePlatformEvent", followed, (key) =>
  stack.client(proto.PlatformEventService).deletePlatformEvent(key),
);
// An import costs one more round trip: it first checks that the account exists.
costs([3, 8], "importDonations, 1,000 rows,", nothing, () =>
  importDonations(stack, accountId, 1_000),
);
costs([2, 5], "putAccount", nothing, () =>
  accounts().putAccount({ externalId: unique("a"), username: unique("user"), displayName: "S" }),
);
costs(
  [2, 5],
  "verifyAccount",
  () => createAccount(stack, { verified: false }),
  (id) => accounts().verifyAccount({ accountId: id }),
);
costs([2, 7], "createApiKey", account, (id) =>
  stack.client(proto.ApiKeyService).createApiKey({ accountId: id, name: "key", validityDays: 30 }),
);
costs([2, 6], "createEndpoint", account, (id) =>
  createEndpoint(stack, id, URL, [proto.WebhookEventKind.DONATION_CREATED]),
);
costs([2, 5], "updateEndpoint", nothing, () =>
  endpoints().updateEndpoint({ accountId, endpointId, url: URL }),
);
costs([2, 9], "sendTest", nothing, () => endpoints().sendTest({ accountId, endpointId }));
costs([2, 7], "retryDelivery", failed, (key) => deliveries().retryDelivery(key));
costs([3, 10], "retryFailedDeliveries", failed, () => {
  const range = { since: timestampFromMs(0), until: timestampFromMs(4e12) };
  return deliveries().retryFailedDeliveries({ accountId, endpointId, ...range });
});
