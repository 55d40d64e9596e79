import {
  AccountService,
  ApiKeyService,
  DeliveryService,
  DeliveryState,
  DisputeOutcome,
  DonationService,
  EndpointService,
  ImportService,
  Platform,
  PlatformEventService,
  WebhookEventKind,
} from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { beforeAll, expect, inject, it } from "vitest";
import { createAccount, createEndpoint, createPaidDonation, unique } from "../harness/builders.ts";
import { openDatabaseProxy } from "../harness/database-proxy.ts";
import { startTestStack } from "../harness/stack.ts";
import { useStarted } from "../harness/use-started.ts";

const at = timestampFromMs(1_600_000_000_000);
const MONEY = { amountCents: 500n, currency: "eur" };

const proxy = useStarted(() => openDatabaseProxy(inject("databaseUrl")));
// With one connection, every statement is prepared once.
const stack = useStarted(() =>
  startTestStack({ serverUrl: proxy.url, env: { DATABASE_CONNECTIONS: "1" } }),
);
let accountId: string;
let endpointId: string;
beforeAll(async () => {
  accountId = await createAccount(stack);
  const kinds = [WebhookEventKind.DONATION_CREATED, WebhookEventKind.DONATION_REFUNDED];
  ({ endpointId } = await createEndpoint(stack, accountId, URL, kinds));
});

const URL = "https://example.com/hook";
const donations = () => stack.client(DonationService);
const endpoints = () => stack.client(EndpointService);
const accounts = () => stack.client(AccountService);
const deliveries = () => stack.client(DeliveryService);

/** Stores a paid donation. Returns its key. */
async function paid() {
  const { externalId } = await createPaidDonation(stack, accountId);
  return { accountId, externalId };
}

async function failed() {
  const { deliveryId } = await endpoints().sendTest({ accountId, endpointId });
  const { database } = stack;
  await database.query("UPDATE delivery SET state = ? WHERE id = ?", [
    DeliveryState.FAILED,
    deliveryId,
  ]);
  await database.query("DELETE FROM outbox_entry");
  return deliveryId;
}

async function* importOf(rows: number) {
  const opening = { accountId, platform: Platform.CSV };
  yield { step: { case: "opening" as const, value: opening } };
  const row = () => ({ ...MONEY, externalId: unique("row"), donatedAt: at });
  yield { step: { case: "rows" as const, value: { rows: Array.from({ length: rows }, row) } } };
}

async function importRows(rows: number) {
  for await (const _ of stack.client(ImportService).importDonations(importOf(rows)));
}

/** Each entry prepares a call and returns it. */
const CALLS: Readonly<Record<string, () => Promise<() => Promise<unknown>>>> = {
  createDonation: async () => () =>
    donations().createDonation({ accountId, externalId: unique("new"), ...MONEY, donatedAt: at }),
  payDonation: async () => {
    const key = { accountId, externalId: unique("donation") };
    await donations().createDonation({ ...key, ...MONEY, donatedAt: at });
    return () => donations().payDonation(key);
  },
  "payDonation again": async () => {
    const key = await paid();
    return () => donations().payDonation(key);
  },
  refundDonation: async () => {
    const key = await paid();
    return () => donations().refundDonation({ ...key, refundExternalId: "r", amountCents: 100n });
  },
  openDispute: async () => {
    const key = await paid();
    return () => donations().openDispute({ ...key, disputeExternalId: "d" });
  },
  resolveDispute: async () => {
    const key = { ...(await paid()), disputeExternalId: "d" };
    await donations().openDispute(key);
    return () => donations().resolveDispute({ ...key, outcome: DisputeOutcome.WON });
  },
  deleteDonation: async () => {
    const key = await paid();
    return () => donations().deleteDonation(key);
  },
  recordContribution: async () => () =>
    donations().recordContribution({
      ...{ accountId, externalId: unique("month"), ...MONEY, contributedAt: at },
      subscriptionExternalId: unique("subscription"),
    }),
  recordPlatformEvent: async () => () =>
    stack.client(PlatformEventService).recordPlatformEvent({
      ...{ accountId, platform: Platform.LIVE_PLATFORM_1, externalId: unique("follow") },
      kind: { case: "follow", value: {} },
    }),
  deletePlatformEvent: async () => {
    const key = { accountId, platform: Platform.LIVE_PLATFORM_1, externalId: unique("follow") };
    const events = stack.client(PlatformEventService);
    await events.recordPlatformEvent({ ...key, kind: { case: "follow", value: {} } });
    return () => events.deletePlatformEvent(key);
  },
  // An import costs one more round trip: it first checks that the account exists.
  "importDonations, 1,000 rows": async () => () => importRows(1_000),
  putAccount: async () => () => {
    const names = { username: unique("user"), displayName: "Streamer" };
    return accounts().putAccount({ externalId: unique("account"), ...names });
  },
  verifyAccount: async () => {
    const id = await createAccount(stack, { verified: false });
    return () => accounts().verifyAccount({ accountId: id });
  },
  createApiKey: async () => {
    const id = await createAccount(stack);
    const call = { accountId: id, name: "key", validityDays: 30 };
    return () => stack.client(ApiKeyService).createApiKey(call);
  },
  createEndpoint: async () => {
    const id = await createAccount(stack);
    const kinds = { kinds: [WebhookEventKind.DONATION_CREATED] };
    return () => endpoints().createEndpoint({ accountId: id, url: URL, kinds });
  },
  updateEndpoint: async () => () => endpoints().updateEndpoint({ accountId, endpointId, url: URL }),
  sendTest: async () => () => endpoints().sendTest({ accountId, endpointId }),
  retryDelivery: async () => {
    const deliveryId = await failed();
    return () => deliveries().retryDelivery({ accountId, deliveryId });
  },
  retryFailedDeliveries: async () => {
    await stack.database.query("UPDATE account SET bulk_retried_at = NULL, test_times = NULL");
    await failed();
    const range = { since: timestampFromMs(0), until: timestampFromMs(4e12) };
    return () => deliveries().retryFailedDeliveries({ accountId, endpointId, ...range });
  },
};

/** Returns the lowest cost of four calls. Other work, such as a periodic job, can only add to it. */
async function costOf(name: string) {
  const prepare = CALLS[name];
  if (prepare === undefined) throw new Error("no such call");
  const costs: { roundTrips: number; statements: number }[] = [];
  for (let turn = 0; turn < 4; turn++) {
    const call = await prepare();
    const [commands, all] = [proxy.commands(), proxy.statements()];
    await call();
    costs.push({ roundTrips: proxy.commands() - commands, statements: proxy.statements() - all });
  }
  const sum = (cost: (typeof costs)[number]) => cost.roundTrips + cost.statements;
  return costs.toSorted((one, other) => sum(one) - sum(other))[0];
}

it.each([
  ["createDonation", 2, 5],
  ["payDonation", 2, 11],
  ["payDonation again", 2, 5],
  ["refundDonation", 2, 14],
  ["openDispute", 2, 11],
  ["resolveDispute", 2, 11],
  ["deleteDonation", 2, 12],
  ["recordContribution", 2, 13],
  ["recordPlatformEvent", 2, 7],
  ["deletePlatformEvent", 2, 7],
  ["importDonations, 1,000 rows", 3, 8],
  ["putAccount", 2, 5],
  ["verifyAccount", 2, 5],
  ["createApiKey", 2, 7],
  ["createEndpoint", 2, 6],
  ["updateEndpoint", 2, 5],
  ["sendTest", 2, 9],
  ["retryDelivery", 2, 7],
  ["retryFailedDeliveries", 3, 10],
])(
  "ARCHITECTURE.md: %s costs %i round trips and %i statements",
  async (name, roundTrips, statements) => {
    expect(await costOf(name)).toEqual({ roundTrips, statements });
  },
);
