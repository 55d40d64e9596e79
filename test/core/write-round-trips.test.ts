import * as proto from "@activity/proto";
import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { beforeAll, expect, inject, it } from "vitest";
import { type Browser, startDashboard } from "../dashboard/harness-dashboard.ts";
import {
  createAccount,
  createApiKey,
  createEndpoint,
  createPaidDonation,
  createPlatformEvent,
  importDonations,
  unique,
} from "../harness/builders.ts";
import { openDatabaseProxy } from "../harness/database-proxy.ts";
import { METHODS } from "../harness/methods.ts";
import { EVER, firstRunOf, madeAttempt } from "../harness/services.ts";
import type { TestStack } from "../harness/stack.ts";
import { useStarted } from "../harness/use-started.ts";

const at = timestampFromMs(1_600_000_000_000);
const MONEY = { amountCents: 500n, currency: "eur" };
const URL = "https://example.com/hook";
const KINDS = [proto.WebhookEventKind.DONATION_CREATED, proto.WebhookEventKind.DONATION_REFUNDED];

const proxy = useStarted(() => openDatabaseProxy(inject("databaseUrl")));
// With one connection, every statement is prepared once.
const dashboard = useStarted(() => startDashboard({ DATABASE_CONNECTIONS: "1" }, proxy.url));
let stack: TestStack;
let accountId: string;
let endpointId: string;
beforeAll(async () => {
  ({ stack } = dashboard);
  accountId = await createAccount(stack);
  ({ endpointId } = await createEndpoint(stack, accountId, URL, KINDS));
});

const donations = () => stack.client(proto.DonationService);
const endpoints = () => stack.client(proto.EndpointService);
const accounts = () => stack.client(proto.AccountService);
const apiKeys = () => stack.client(proto.ApiKeyService);
const deliveries = () => stack.client(proto.DeliveryService);
const dispatch = () => stack.client(proto.DispatchService);

const nothing = async () => undefined;
const account = () => createAccount(stack);

/** Creates a donation that is not paid. Returns the fields that name it. */
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
/** Creates an API key. Returns the fields that name it. */
const withApiKey = async () => ({ accountId, apiKeyId: (await createApiKey(stack, accountId)).id });
/** Stores a delivery. The outbox then has only its entry. Returns its first run. */
async function sent(to = endpointId) {
  await stack.database.query("UPDATE account SET bulk_retried_at = NULL, test_times = NULL");
  await stack.database.query("DELETE FROM outbox_entry");
  const { deliveryId } = await endpoints().sendTest({ accountId, endpointId: to });
  return firstRunOf(accountId, deliveryId);
}
const record = (run: Awaited<ReturnType<typeof sent>>, changes = {}) =>
  dispatch().recordAttempts({
    attempts: [madeAttempt(run, proto.AttemptOutcome.TIMEOUT, changes)],
  });
/** Stores a run that continues with a retry. */
async function retried() {
  const run = await sent();
  await record(run, { retryIn: { seconds: 60n } });
  return run;
}
/** Stores a run whose endpoint is deleted. */
async function canceled() {
  const created = await createEndpoint(stack, accountId);
  const run = await sent(created.endpointId);
  await endpoints().deleteEndpoint({ accountId, endpointId: created.endpointId });
  return run;
}
/** Gives the endpoint a secret that signs in an hour. */
const rotated = () => {
  const signsFrom = timestampFromMs(Date.now() + 3_600_000);
  return endpoints().rotateSecret({ accountId, endpointId, signsFrom });
};
/** Stores a failed delivery. Returns the fields that name it. */
async function failed() {
  const { deliveryId } = await sent();
  await stack.database.query("UPDATE delivery SET state = ?, last_outcome = ? WHERE id = ?", [
    ...[proto.DeliveryState.FAILED, proto.AttemptOutcome.REJECTED, deliveryId],
  ]);
  await stack.database.query("DELETE FROM outbox_entry");
  return { accountId, deliveryId };
}

const signedIn = () => dashboard.signIn(accountId);
/** Returns a browser's call, which must succeed. */
const inBrowser =
  (method: DescMethod, message?: Record<string, unknown>) => async (browser: Browser) =>
    expect((await browser.call(method, message)).status).toBe(200);

/** The names of the calls that have a row. */
const listed = new Set<string | undefined>();

function costs<Prepared>(
  expected: readonly [roundTrips: number, statements: number],
  name: string,
  prepare: () => Promise<Prepared>,
  call: (prepared: Prepared) => Promise<unknown>,
) {
  listed.add(name.split(/\W/, 1)[0]);
  const cost = `${expected[0]} round trips and ${expected[1]} statements`;
  it(`ARCHITECTURE.md: ${name} costs ${cost}`, async () => {
    expect(await proxy.leastCost(call, prepare, expected)).toEqual(expected);
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
costs(
  [2, 7],
  "blockAccount",
  () => accounts().unblockAccount({ accountId }),
  () => accounts().blockAccount({ accountId }),
);
costs([2, 5], "unblockAccount", nothing, () => accounts().unblockAccount({ accountId }));
costs([21, 25], "deleteAccount", account, (id) => accounts().deleteAccount({ accountId: id }));
costs([2, 7], "createApiKey", account, (id) =>
  apiKeys().createApiKey({ accountId: id, name: "key", validityDays: 30 }),
);
costs([2, 5], "renewApiKey", withApiKey, (named) =>
  apiKeys().renewApiKey({ ...named, validityDays: 30 }),
);
costs([2, 5], "revokeApiKey", withApiKey, (named) => apiKeys().revokeApiKey(named));
costs([2, 4], "createSessionLink", nothing, () => dashboard.code(accountId));
// A browser's call costs two more round trips: one counts it, and one finds its session. `exchangeCode` has no session
// yet.
const { exchangeCode, signOut, signOutEverywhere } = proto.SessionService.method;
costs(
  [3, 9],
  "exchangeCode",
  () => dashboard.code(accountId),
  (code) => inBrowser(exchangeCode, { code })(dashboard.browser()),
);
costs([3, 8], "signOut", signedIn, inBrowser(signOut));
costs([3, 9], "signOutEverywhere", signedIn, inBrowser(signOutEverywhere));
const { dismissNotice } = proto.NoticeService.method;
costs([6, 10], "dismissNotice", signedIn, inBrowser(dismissNotice, { sequence: 1n }));
costs([2, 6], "createEndpoint", account, (id) =>
  createEndpoint(stack, id, URL, [proto.WebhookEventKind.DONATION_CREATED]),
);
costs([2, 5], "updateEndpoint", nothing, () =>
  endpoints().updateEndpoint({ accountId, endpointId, url: URL }),
);
costs([2, 5], "switchOffEndpoint", nothing, () =>
  endpoints().switchOffEndpoint({ accountId, endpointId }),
);
costs([2, 5], "switchOnEndpoint", nothing, () =>
  endpoints().switchOnEndpoint({ accountId, endpointId }),
);
costs(
  [2, 5],
  "deleteEndpoint",
  () => createEndpoint(stack, accountId),
  (created) => endpoints().deleteEndpoint({ accountId, endpointId: created.endpointId }),
);
costs([2, 5], "rotateSecret", nothing, () => endpoints().rotateSecret({ accountId, endpointId }));
costs([2, 5], "cancelRotation", rotated, () =>
  endpoints().cancelRotation({ accountId, endpointId }),
);
costs([2, 9], "sendTest", nothing, () => endpoints().sendTest({ accountId, endpointId }));
costs([2, 7], "retryDelivery", failed, (key) => deliveries().retryDelivery(key));
costs([3, 10], "retryFailedDeliveries", failed, () =>
  deliveries().retryFailedDeliveries({ accountId, endpointId, ...EVER }),
);
// This call writes nothing. The table has it because owners make it most often.
costs([3, 3], "listDeliveries", sent, () => deliveries().listDeliveries({ accountId }));
// The limit is above the number of entries, so each search sees them all, and the next begins at the first account.
costs([4, 4], "claimAttempts", sent, () =>
  dispatch().claimAttempts({ limit: 2, endpointLimit: 2 }),
);
costs([4, 4], "claimRetries", retried, () => dispatch().claimRetries({ limit: 2 }));
costs([1, 2], "completeRetries", retried, (run) => dispatch().completeRetries({ runs: [run] }));
costs([1, 1], "loadAttempt", sent, (run) => dispatch().loadAttempt({ run, attempt: 1 }));
costs([2, 4], "loadAttempt of a deleted endpoint", canceled, (run) =>
  dispatch().loadAttempt({ run, attempt: 1 }),
);
costs([1, 1], "rescheduleAttempt", retried, (run) =>
  dispatch().rescheduleAttempt({ run, attempt: 2, wait: { seconds: 60n } }),
);
costs([2, 5], "recordAttempts", sent, (run) => record(run));

it("ARCHITECTURE.md: the table has every call that may write, except admission", () => {
  // `test/feed/round-trips.test.ts` tests the cost of admission, which several requests share.
  const writing = METHODS.filter(
    ({ idempotency, parent }) =>
      idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS &&
      parent !== proto.AdmissionService,
  );
  expect(writing.map(({ localName }) => localName).filter((name) => !listed.has(name))).toEqual([]);
});
