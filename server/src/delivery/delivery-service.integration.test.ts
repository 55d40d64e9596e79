import { AttemptOutcome, DeliveryState } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { NUMBERS, writeDeliveries } from "../../../test/harness/backlog.ts";
import { useOwner } from "../../../test/harness/owner.ts";
import { EVER, firstRunOf, useServices } from "../../../test/harness/services.ts";
import { ErrorCode } from "../common/errors.ts";
import { inTransaction } from "../database/transaction.ts";

const services = useServices();
const { own, sendTest, retry, read } = useOwner(services);

describe("a manual retry", () => {
  it.each([
    {
      ...{ what: "off", end: () => services.endpoints.switchOffEndpoint(own) },
      ...{ code: ErrorCode.EndpointSwitchedOff, advice: "switch it on" },
    },
    {
      ...{ what: "deleted", end: () => services.endpoints.deleteEndpoint(own) },
      ...{ code: ErrorCode.EndpointNotFound, advice: "is deleted" },
    },
  ])(
    "is refused while its endpoint is $what, for failed and pending deliveries",
    async ({ end, code, advice }) => {
      const failed = await sendTest();
      await services.record(failed, AttemptOutcome.REJECTED);
      const running = await sendTest();
      await end();
      for (const run of [failed, running]) {
        await expect(retry(run)).rejects.toMatchObject({
          code,
          message: expect.stringContaining(advice),
        });
      }
    },
  );

  it("does not change a pending delivery, and is refused for one that succeeded", async () => {
    const run = await sendTest();
    const { delivery } = await retry(run);
    expect(delivery).toMatchObject({ state: DeliveryState.PENDING, run: 1 });
    await services.record(run, AttemptOutcome.DELIVERED);
    await services.endpoints.switchOffEndpoint(own);
    await expect(retry(run)).rejects.toMatchObject({ code: ErrorCode.DeliveryAlreadyDelivered });
  });

  it("waits for a record of the delivery, and is refused if it succeeded", async () => {
    const run = await sendTest();
    await services.record(run, AttemptOutcome.REJECTED);
    const { retrying } = await inTransaction(services.pool, async (tx) => {
      const succeed = "UPDATE delivery SET state = ? WHERE account_no = ? AND id = ?";
      await tx.query(succeed, [DeliveryState.DELIVERED, Number(run.accountNo), run.deliveryId]);
      const retrying = expect(retry(run)).rejects.toMatchObject({
        code: ErrorCode.DeliveryAlreadyDelivered,
      });
      const isWaiting = () =>
        services.database.isRunning("SELECT d.account_no, d.id, d.endpoint_id");
      await expect.poll(isWaiting).toBe(true);
      return { retrying };
    });
    await retrying;
  });

  it("ADR 0053: sends one that succeeded again, once, with include_delivered", async () => {
    const run = await sendTest();
    await services.record(run, AttemptOutcome.DELIVERED);
    const again = { accountId: own.accountId, deliveryId: run.deliveryId, includeDelivered: true };
    const ask = () => services.deliveries.retryDelivery(again);
    const begun = { state: DeliveryState.PENDING, run: 2, attempts: 0 };
    for (const { delivery } of await Promise.all([ask(), ask()])) {
      expect(delivery).toMatchObject(begun);
    }
    await services.record({ ...run, run: 2 }, AttemptOutcome.REJECTED);
    const { delivery, attempts } = await read(run);
    expect(delivery).toMatchObject({ state: DeliveryState.FAILED, run: 2 });
    expect(attempts.map((made) => made.outcome)).toEqual([
      AttemptOutcome.DELIVERED,
      AttemptOutcome.REJECTED,
    ]);
  });

  it("ADR 0053: begins the next run of a retrying delivery at once, with include_retrying", async () => {
    const run = await sendTest();
    await services.record(run, AttemptOutcome.TIMEOUT, { retryIn: { seconds: 60n } });
    expect((await retry(run)).delivery).toMatchObject({ state: DeliveryState.RETRYING, run: 1 });
    const again = { accountId: own.accountId, deliveryId: run.deliveryId, includeRetrying: true };
    for (const { delivery } of [
      await services.deliveries.retryDelivery(again),
      await services.deliveries.retryDelivery(again),
    ]) {
      expect(delivery).toMatchObject({ state: DeliveryState.PENDING, run: 2, attempts: 0 });
    }
    expect((await services.dispatch.claimRetries({ limit: 8 })).retries).toEqual([]);
    expect(await services.dispatch.loadAttempt({ run, attempt: 2 })).toMatchObject({
      step: { case: "ended" },
    });
    await services.record({ ...run, run: 2 }, AttemptOutcome.DELIVERED);
    expect((await read(run)).delivery).toMatchObject({ state: DeliveryState.DELIVERED, run: 2 });
  });

  it("of a range takes the failed ones, and those that succeeded only with include_delivered. ADR 0053", async () => {
    const [failed, delivered] = [await sendTest(), await sendTest()];
    await services.record(failed, AttemptOutcome.REJECTED);
    await services.record(delivered, AttemptOutcome.DELIVERED);
    const call = { ...own, ...EVER };
    const retryFailed = services.deliveries.retryFailedDeliveries;
    expect((await retryFailed({ ...call, until: timestampFromMs(1) })).retried).toBe(0n);
    expect((await retryFailed(call)).retried).toBe(1n);
    expect(await services.claim()).toContain(failed.deliveryId);
    await services.forgetSending(own.accountId);
    expect((await retryFailed({ ...call, includeDelivered: true })).retried).toBe(1n);
    expect(await services.claim()).toContain(delivered.deliveryId);
  });

  it("of all failed ones is refused within a minute of the last, also when two calls race", async () => {
    const failed = [await sendTest(), await sendTest()];
    for (const run of failed) await services.record(run, AttemptOutcome.REJECTED);
    const call = { ...own, ...EVER };
    const ask = () => services.deliveries.retryFailedDeliveries(call);
    const settled = await Promise.allSettled([ask(), ask()]);
    const limit = { code: ErrorCode.BulkRetryLimitReached };
    expect(settled).toEqual(
      expect.arrayContaining([
        { status: "fulfilled", value: expect.objectContaining({ retried: 2n }) },
        { status: "rejected", reason: expect.objectContaining(limit) },
      ]),
    );
  });
});

it("shows the newest 200 attempts of a delivery, oldest first, however often it was retried", async () => {
  const backlog = { accountId: own.accountId, endpointIds: [own.endpointId], count: 1 };
  const failed = { state: DeliveryState.FAILED, attempts: 3 };
  const [deliveryId = ""] = await writeDeliveries(services.database, backlog, failed);
  // 100 runs of three attempts each, written in no particular order.
  await services.database.queryShards(
    `INSERT INTO delivery_attempt (account_no, delivery_id, run, attempt, started_at, duration, outcome,
       response_body)
     SELECT account_no, id, n % 100 + 1, n % 3 + 1, 0, 0, ?, '' FROM delivery JOIN ${NUMBERS}
     WHERE id = ? AND n < 300`,
    [AttemptOutcome.TIMEOUT, deliveryId],
  );
  const { attempts } = await read(firstRunOf(own.accountId, deliveryId));
  const newest = Array.from({ length: 300 }, (_, n) => [Math.floor(n / 3) + 1, (n % 3) + 1]);
  expect(attempts.map(({ run, attempt }) => [run, attempt])).toEqual(newest.slice(-200));
});

it("does not find a delivery that is being removed for its age", async () => {
  const run = await sendTest();
  // Acts as if a removal ran between the two reads: the second read does not find the event.
  await services.database.query(
    `DELETE e FROM webhook_event e JOIN delivery d ON d.account_no = e.account_no AND d.event_id = e.id
     WHERE d.id = ?`,
    [run.deliveryId],
  );
  await expect(read(run)).rejects.toMatchObject({ code: ErrorCode.DeliveryNotFound });
});
