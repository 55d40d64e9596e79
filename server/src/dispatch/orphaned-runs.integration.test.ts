import { AttemptOutcome, DeliveryState, WebhookEventKind } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { writeDeliveries } from "../../../test/delivery/harness-backlog.ts";
import { rowCounterOf } from "../../../test/harness/row-reads.ts";
import { type Services, startServices } from "../../../test/harness/services.ts";
import { lockAccount } from "../account/account-store.ts";
import { inTransaction } from "../database/transaction.ts";
import { recoverOverdueDeliveries } from "./delivery-recovery.ts";

const OVERDUE_MICROS = 600_000_000;

let services: Services;
let accountId: string;
let endpointId: string;
beforeAll(async () => {
  services = await startServices();
});
afterAll(() => services.stop());
beforeEach(async () => {
  await services.database.query("DELETE FROM outbox_entry");
  await services.database.query("DELETE FROM delivery");
  await services.database.query("DELETE FROM webhook_event");
  accountId = await services.createAccount();
  const kinds = { kinds: [WebhookEventKind.DONATION_CREATED] };
  const url = "https://example.com/hook";
  const { endpoint } = await services.endpoints.createEndpoint({ accountId, url, kinds });
  endpointId = endpoint?.id ?? "";
});

const recover = () => recoverOverdueDeliveries(services.pool, OVERDUE_MICROS);
const claim = () => services.dispatch.claimDeliveries({ limit: 64 });
const makeOverdue = () =>
  services.database.query(
    "UPDATE delivery SET next_attempt_at = next_attempt_at - 2 * ? WHERE next_attempt_at IS NOT NULL",
    [OVERDUE_MICROS],
  );
const stateOf = async (deliveryId: string) =>
  (await services.deliveries.getDelivery({ accountId, deliveryId })).delivery?.state;
const record = (deliveryId: string, attempt: number, outcome: AttemptOutcome, again = true) =>
  services.dispatch.recordAttempt({
    sequence: { deliveryId, sequence: 1 },
    attempt,
    startedAt: timestampFromMs(1_600_000_000_000),
    duration: {},
    outcome,
    ...(again && { retryIn: { seconds: 60n } }),
  });

/** A delivery that was handed over and whose attempts all failed. */
async function handedOver(attempts: number): Promise<string> {
  const { deliveryId } = await services.endpoints.sendTest({ accountId, endpointId });
  const { sequences } = await claim();
  await services.dispatch.markHandedOver({ sequences });
  for (let attempt = 1; attempt <= attempts; attempt++) {
    await record(deliveryId, attempt, AttemptOutcome.TIMEOUT);
  }
  return deliveryId;
}

it("lets what is long overdue go on from the attempt that is due, and is not found again at once", async () => {
  const never = await handedOver(0);
  const thrice = await handedOver(3);
  expect(await recover()).toBe(0);
  await makeOverdue();
  expect(await recover()).toBe(2);
  expect(await recover()).toBe(0);
  expect(await stateOf(thrice)).toBe(DeliveryState.WAITING);
  const { sequences, lost } = await claim();
  expect(sequences).toEqual([]);
  expect(lost).toMatchObject([
    { sequence: { deliveryId: never, sequence: 1 }, attempt: 1 },
    { sequence: { deliveryId: thrice, sequence: 1 }, attempt: 4 },
  ]);
  const keys = lost.flatMap(({ sequence }) => sequence ?? []);
  await services.dispatch.markHandedOver({ sequences: keys });
  expect(await stateOf(thrice)).toBe(DeliveryState.HANDED_OVER);
  expect(await recover()).toBe(0);
  expect((await claim()).lost).toEqual([]);
});

it("leaves alone what is on time, was put off, waits or has ended", async () => {
  await handedOver(1);
  const putOff = await handedOver(1);
  const ended = await handedOver(0);
  await record(ended, 1, AttemptOutcome.DELIVERED, false);
  const sequence = { deliveryId: putOff, sequence: 1 };
  const deferFor = { seconds: 3_600n };
  await services.database.query(
    "UPDATE delivery SET next_attempt_at = next_attempt_at - 2 * ? WHERE id = ?",
    [OVERDUE_MICROS, putOff],
  );
  await services.dispatch.deferAttempt({ sequence, attempt: 2, deferFor });
  await services.endpoints.sendTest({ accountId, endpointId });
  expect(await recover()).toBe(0);
});

it("does not put an attempt off that is recorded", async () => {
  const deliveryId = await handedOver(1);
  const read = async () =>
    (await services.deliveries.getDelivery({ accountId, deliveryId })).delivery?.nextAttemptAt;
  const planned = await read();
  const sequence = { deliveryId, sequence: 1 };
  await services.dispatch.deferAttempt({ sequence, attempt: 1, deferFor: { seconds: 3_600n } });
  expect(await read()).toEqual(planned);
});

it("begins anew when the owner retries what had been lost and then failed", async () => {
  const deliveryId = await handedOver(1);
  await makeOverdue();
  expect(await recover()).toBe(1);
  await record(deliveryId, 2, AttemptOutcome.REJECTED, false);
  await services.deliveries.retryDelivery({ accountId, deliveryId });
  const { sequences, lost } = await claim();
  expect(sequences).toMatchObject([{ deliveryId, sequence: 2 }]);
  expect(lost).toEqual([]);
});

it("adds nothing to an account that is being deleted", async () => {
  await handedOver(1);
  await makeOverdue();
  await services.database.query("UPDATE account SET deleted_at = 1 WHERE id = ?", [accountId]);
  expect(await recover()).toBe(0);
  expect((await claim()).lost).toEqual([]);
});

describe("1,000 deliveries that are longer overdue and cannot go on", () => {
  let younger: string;
  let blocking: string;
  let rowsRead: () => Promise<number>;
  beforeEach(async () => {
    younger = await handedOver(1);
    await makeOverdue();
    blocking = await services.createAccount();
    const kinds = { kinds: [WebhookEventKind.DONATION_CREATED] };
    const created = { accountId: blocking, url: "https://example.com/hook", kinds };
    const { endpoint } = await services.endpoints.createEndpoint(created);
    const many = { accountId: blocking, endpointIds: [endpoint?.id ?? ""], count: 1_000 };
    const stored = { state: DeliveryState.HANDED_OVER, attempts: 2, nextAttemptSeconds: -86_400 };
    await writeDeliveries(services.database, { ...many, prefix: "overduesml" }, stored);
    rowsRead = await rowCounterOf(services.database, "delivery");
  });

  it("keep none of another account's while theirs is being written", async () => {
    const before = await rowsRead();
    await inTransaction(services.pool, async (tx) => {
      await lockAccount(tx, blocking);
      expect(await recover()).toBe(1);
    });
    expect(await stateOf(younger)).toBe(DeliveryState.WAITING);
    // 200 to find out, and what goes on.
    expect((await rowsRead()) - before).toBeLessThan(300);
    expect(await recover()).toBe(200);
  });

  it("keep none of another account's, and are not read, while theirs is being deleted", async () => {
    const before = await rowsRead();
    await services.database.query("UPDATE account SET deleted_at = 1 WHERE id = ?", [blocking]);
    expect(await recover()).toBe(1);
    expect(await stateOf(younger)).toBe(DeliveryState.WAITING);
    expect((await rowsRead()) - before).toBeLessThan(100);
  });
});

it("takes 100,000 that are overdue a few at a time, and reads those alone", async () => {
  const many = { accountId, endpointIds: [endpointId], count: 100_000, prefix: "overduemny" };
  const stored = { state: DeliveryState.HANDED_OVER, attempts: 2, nextAttemptSeconds: -86_400 };
  await writeDeliveries(services.database, many, stored);
  const rowsRead = await rowCounterOf(services.database, "delivery");
  const before = await rowsRead();
  const recovered = await recover();
  expect(recovered).toBeGreaterThan(0);
  expect(recovered).toBeLessThanOrEqual(200);
  expect((await rowsRead()) - before).toBeLessThan(5 * recovered);
});
