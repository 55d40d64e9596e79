import { DeliveryState, DisputeOutcome, Platform, WebhookEventKind } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { beforeEach, expect, it } from "vitest";
import { ALL_KINDS, createPaidDonation } from "../../../test/harness/builders.ts";
import { useServices } from "../../../test/harness/services.ts";
import { accountNoOf, microsOfId } from "../common/ids.ts";

const services = useServices();
let accountId: string;
beforeEach(async () => {
  accountId = await services.createAccount();
});

const at = timestampFromMs(1_600_000_000_000);

const createEndpoint = (kinds = ALL_KINDS) => services.createEndpoint(accountId, kinds);

async function pay(fields: { test?: boolean } = {}) {
  const paid = await createPaidDonation(services, accountId, { donorName: "Zoë", ...fields });
  return { accountId, ...paid };
}

function contribute(externalId: string, test = false) {
  const money = { amountCents: 300n, currency: "eur", contributedAt: at };
  const contribution = { accountId, externalId, subscriptionExternalId: "s", ...money, test };
  return services.donations.recordContribution(contribution);
}

/** Reads the payloads of the account's events, oldest first. */
async function readPayloads() {
  const rows = await services.database.query<{ payload: Buffer; id: string }>(
    "SELECT payload, id FROM webhook_event WHERE account_no = ? ORDER BY id",
    [accountNoOf(accountId)],
  );
  return rows.map(({ payload, id }) => {
    const event = JSON.parse(payload.toString("utf8"));
    expect(event.id).toBe(id);
    expect(id).toMatch(/^wev_[a-z0-9]{15}$/);
    expect(event.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    return event;
  });
}

const deliveriesOf = async () =>
  (await services.deliveries.listDeliveries({ accountId })).deliveries;

it("begins the ids of events and deliveries with their time, which lists filter by. ADR 0026", async () => {
  await createEndpoint();
  // These writes share transactions, so that the events' times differ from the database's.
  await Promise.all(Array.from({ length: 8 }, () => pay()));
  const rows = await services.database.query<{ id: string; event_id: string; created_at: number }>(
    "SELECT id, event_id, created_at FROM delivery WHERE account_no = ?",
    [accountNoOf(accountId)],
  );
  expect(rows).toHaveLength(8);
  for (const { id, event_id: eventId, created_at: createdAt } of rows) {
    expect([microsOfId(id), microsOfId(eventId.slice(4))]).toEqual([createdAt, createdAt]);
  }
});

it("sends one event for each change, with only the fields of its kind", async () => {
  await createEndpoint();
  const donation = await pay();
  const { recordId: id } = donation;
  await services.donations.payDonation(donation);
  const refund = (refundExternalId: string, amountCents: bigint) =>
    services.donations.refundDonation({ ...donation, refundExternalId, amountCents });
  const open = (disputeExternalId: string) =>
    services.donations.openDispute({ ...donation, disputeExternalId });
  const resolve = (disputeExternalId: string, outcome: DisputeOutcome) =>
    services.donations.resolveDispute({ ...donation, disputeExternalId, outcome });
  await refund("r1", 100n);
  await refund("r1", 100n);
  await refund("r2", 150n);
  await open("d1");
  await open("d1");
  await resolve("d1", DisputeOutcome.WON);
  await open("d2");
  await refund("r3", 250n);
  await resolve("d2", DisputeOutcome.WON);
  await open("d3");
  await resolve("d3", DisputeOutcome.LOST);
  await resolve("d3", DisputeOutcome.LOST);

  const money = { amount_cents: 500, currency: "eur" };
  const paid_at = expect.stringMatching(/^20\d\d-.*Z$/);
  const data = (await readPayloads()).map((event) => [event.type, event.test, event.data]);
  expect(data).toEqual([
    ["donation.created", false, { id, ...money, donor_name: "Zoë", message: null, paid_at }],
    ["donation.refunded", false, { id, ...money, refunded_amount_cents: 100 }],
    ["donation.refunded", false, { id, ...money, refunded_amount_cents: 250 }],
    ["donation.chargeback", false, { id, ...money, status: "disputed" }],
    ["donation.chargeback", false, { id, ...money, status: "paid" }],
    ["donation.chargeback", false, { id, ...money, status: "disputed" }],
    ["donation.refunded", false, { id, ...money, refunded_amount_cents: 500 }],
    ["donation.chargeback", false, { id, ...money, status: "refunded" }],
    ["donation.chargeback", false, { id, ...money, status: "disputed" }],
    ["donation.chargeback", false, { id, ...money, status: "dispute_lost" }],
  ]);
});

it("§6.2 created_at is the time of each change; for a payment it is the feed's recorded_at", async () => {
  await createEndpoint();
  const moment = "SELECT DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%dT%H:%i:%s.%fZ')";
  const now = () => services.database.value<string>(moment);
  const times = [await now()];
  const donation = await pay();
  times.push(await now());
  await services.donations.refundDonation({ ...donation, refundExternalId: "r", amountCents: 1n });
  times.push(await now());
  await services.donations.openDispute({ ...donation, disputeExternalId: "d" });
  times.push(await now());
  const events = await readPayloads();
  const created = events.map((event) => event.created_at);
  const inOrder = times.flatMap((time, place) => [time, ...created.slice(place, place + 1)]);
  expect(inOrder).toEqual(inOrder.toSorted());
  expect(new Set(inOrder).size).toBe(times.length + created.length);
  expect(events[0].data.paid_at).toBe(created[0]);
  const { donation: paid } = await services.donations.payDonation(donation);
  const { seconds, nanos } = paid?.recordedAt ?? expect.unreachable();
  const micros = String(nanos / 1_000).padStart(6, "0");
  expect(created[0]).toBe(
    `${new Date(Number(seconds) * 1_000).toISOString().slice(0, 19)}.${micros}Z`,
  );
});

it("sends an endpoint only events of donations that reach its minimum amount", async () => {
  const endpointId = await createEndpoint();
  const least = { accountId, endpointId, minAmountCents: 501n };
  await services.endpoints.updateEndpoint(least);
  const donation = await pay();
  expect(await readPayloads()).toEqual([]);
  await services.endpoints.sendTest({ accountId, endpointId });
  await services.endpoints.updateEndpoint({ ...least, minAmountCents: 500n });
  const refund = { ...donation, refundExternalId: "r1", amountCents: 500n };
  await services.donations.refundDonation(refund);
  const types = (await readPayloads()).map(({ type, test }) => [type, test]);
  expect(types).toEqual([
    ["donation.created", true],
    ["donation.refunded", false],
  ]);
});

it("§6.2 a test event carries the amount and supporter that its owner entered", async () => {
  const endpointId = await createEndpoint();
  const sent = { accountId, endpointId, kind: WebhookEventKind.DONATION_CREATED };
  await services.endpoints.sendTest({ ...sent, amountCents: 1n, donorName: "Zoë", message: "" });
  await services.endpoints.sendTest(sent);
  expect(await readPayloads()).toMatchObject([
    { test: true, data: { amount_cents: 1, donor_name: "Zoë", message: null } },
    { test: true, data: { amount_cents: 500, donor_name: "Test", message: "This is a test." } },
  ]);
  await expect(services.endpoints.sendTest({ ...sent, donorName: "\ud800" })).rejects.toThrow();
});

it("sends an event for every contribution, and one for its subscription with the first", async () => {
  await createEndpoint();
  await contribute("test", true);
  for (const externalId of ["one", "one", "two"]) await contribute(externalId);
  const types = (await readPayloads()).map((event) => event.type);
  expect(types).toEqual(["donation.created", "subscription.created", "donation.created"]);
});

it("sends no events for tests, imports and platform events", async () => {
  await createEndpoint();
  await pay({ test: true });
  await services.importRows(accountId, Platform.CSV, [
    { externalId: "1", amountCents: 1n, currency: "eur", donatedAt: at },
  ]);
  await services.platformEvents.recordPlatformEvent({
    accountId,
    platform: Platform.LIVE_PLATFORM_1,
    externalId: "1",
    kind: { case: "follow", value: {} },
  });
  expect(await deliveriesOf()).toEqual([]);
});

it("creates one delivery for each endpoint that chose the kind, and pauses it if the endpoint is off", async () => {
  const [one, two, off, other] = [
    await createEndpoint(),
    await createEndpoint(),
    await createEndpoint(),
    await createEndpoint([WebhookEventKind.DONATION_REFUNDED]),
  ];
  await services.endpoints.switchOffEndpoint({ accountId, endpointId: off });
  await pay();
  const deliveries = await deliveriesOf();
  const states = new Map(deliveries.map(({ endpointId, state }) => [endpointId, state]));
  expect(states).toEqual(
    new Map([
      [one, DeliveryState.PENDING],
      [two, DeliveryState.PENDING],
      [off, DeliveryState.PAUSED],
    ]),
  );
  expect(states.has(other)).toBe(false);
  expect(new Set(deliveries.map(({ eventId }) => eventId)).size).toBe(1);
  const claimed = await services.claim();
  const mine = deliveries.filter(({ id }) => claimed.includes(id));
  expect(mine.map(({ endpointId }) => endpointId).toSorted()).toEqual([one, two].toSorted());
});

it("writes both the change and its event, or neither", async () => {
  await createEndpoint();
  const donation = await pay();
  const refund = { ...donation, refundExternalId: "r", amountCents: 100n };
  const refused = services.database.withTrigger("BEFORE INSERT ON outbox_entry", () =>
    services.donations.refundDonation(refund),
  );
  await expect(refused).rejects.toThrow();
  expect(await readPayloads()).toHaveLength(1);
  const { donation: refunded } = await services.donations.refundDonation(refund);
  expect(refunded?.refundedAmountCents).toBe(100n);
  expect(await readPayloads()).toHaveLength(2);
});

it("sends no event for the deletion of a donation, §6.1", async () => {
  await createEndpoint();
  const donation = await pay();
  await services.donations.deleteDonation(donation);
  expect(await deliveriesOf()).toHaveLength(1);
});

it("gives events that are committed together one time, and later ones a later time, §6.2", async () => {
  await createEndpoint();
  await createEndpoint();
  await contribute("one");
  await contribute("two");
  const events = await readPayloads();
  const [first, second, third] = events.map((event) => event.created_at);
  expect(second).toBe(first);
  expect(third > first).toBe(true);
  const deliveries = (await deliveriesOf()).toReversed();
  expect(deliveries.map(({ eventId }) => eventId)).toEqual(events.flatMap(({ id }) => [id, id]));
});
