import { AttemptOutcome, DeliveryState, WebhookEventKind } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { writeDeliveries } from "../../../test/delivery/harness-backlog.ts";
import { type Services, startServices } from "../../../test/harness/services.ts";
import { ErrorCode } from "../errors.ts";

let services: Services;
let accountId: string;
let endpointId: string;
beforeAll(async () => {
  services = await startServices();
});
afterAll(() => services.stop());
beforeEach(async () => {
  accountId = await services.createAccount();
  endpointId = await createEndpoint();
});

async function createEndpoint() {
  const kinds = { kinds: [WebhookEventKind.DONATION_CREATED] };
  const url = "https://example.com/hook";
  const { endpoint } = await services.endpoints.createEndpoint({ accountId, url, kinds });
  return endpoint?.id ?? "";
}
const sendTest = async () =>
  (await services.endpoints.sendTest({ accountId, endpointId })).deliveryId;
const retry = (deliveryId: string) => services.deliveries.retryDelivery({ accountId, deliveryId });
const endSequence = (deliveryId: string, outcome: AttemptOutcome) =>
  services.dispatch.recordAttempt({
    sequence: { deliveryId, sequence: 1 },
    attempt: 1,
    startedAt: timestampFromMs(1_600_000_000_000),
    duration: {},
    outcome,
  });

describe("a manual retry", () => {
  const refusals = [
    {
      endpoint: "off",
      leave: () => services.endpoints.switchOffEndpoint({ accountId, endpointId }),
      advice: "switch it on",
    },
    {
      endpoint: "deleted",
      leave: () => services.endpoints.deleteEndpoint({ accountId, endpointId }),
      advice: "is deleted",
    },
    {
      endpoint: "deleted and its row gone",
      leave: async () => {
        await services.endpoints.deleteEndpoint({ accountId, endpointId });
        await services.database.query("DELETE FROM endpoint WHERE id = ?", [endpointId]);
      },
      advice: "is deleted",
    },
  ];

  it.each(refusals)(
    "is refused while its endpoint is $endpoint, whether it failed or is on its way",
    async ({ leave, advice }) => {
      const failed = await sendTest();
      await endSequence(failed, AttemptOutcome.REJECTED);
      const running = await sendTest();
      await leave();
      for (const deliveryId of [failed, running]) {
        await expect(retry(deliveryId)).rejects.toMatchObject({
          code: ErrorCode.EndpointSwitchedOff,
          message: expect.stringContaining(advice),
        });
      }
    },
  );

  it("leaves a delivery as it is that is on its way, and refuses one that succeeded", async () => {
    const deliveryId = await sendTest();
    const { delivery } = await retry(deliveryId);
    expect(delivery).toMatchObject({ state: DeliveryState.WAITING, sequence: 1 });
    await endSequence(deliveryId, AttemptOutcome.DELIVERED);
    await services.endpoints.switchOffEndpoint({ accountId, endpointId });
    await expect(retry(deliveryId)).rejects.toMatchObject({
      code: ErrorCode.DeliveryAlreadyDelivered,
    });
  });
});

it("shows the newest 200 attempts of a delivery, oldest first, however often it was retried", async () => {
  const backlog = { accountId, endpointIds: [endpointId], count: 1, prefix: "retried000" };
  const failed = { state: DeliveryState.FAILED, attempts: 3 };
  const [deliveryId = ""] = await writeDeliveries(services.database, backlog, failed);
  // 100 sequences of three attempts each, written in no order.
  await services.database.query(
    `INSERT INTO delivery_attempt (delivery_no, sequence, attempt, account_no, started_at, duration,
       outcome, response_body)
     SELECT d.delivery_no, n.seq, n.attempt, d.account_no, 0, 0, ?, '' FROM delivery d JOIN JSON_TABLE(
       ?, '$[*]' COLUMNS (seq INT PATH '$.seq', attempt INT PATH '$.attempt')) n WHERE d.id = ?`,
    [
      AttemptOutcome.TIMEOUT,
      JSON.stringify(
        Array.from({ length: 300 }, (_, n) => ({ seq: (n % 100) + 1, attempt: (n % 3) + 1 })),
      ),
      deliveryId,
    ],
  );
  const { attempts } = await services.deliveries.getDelivery({ accountId, deliveryId });
  const newest = Array.from({ length: 300 }, (_, n) => [Math.floor(n / 3) + 1, (n % 3) + 1]);
  expect(attempts.map(({ sequence, attempt }) => [sequence, attempt])).toEqual(newest.slice(-200));
});

it("does not find a delivery that is removed for its age while it is read", async () => {
  const deliveryId = await sendTest();
  // What a removal leaves of it for the last of the reads.
  await services.database.query(
    "DELETE e FROM webhook_event e JOIN delivery d ON d.event_no = e.event_no WHERE d.id = ?",
    [deliveryId],
  );
  await expect(services.deliveries.getDelivery({ accountId, deliveryId })).rejects.toMatchObject({
    code: ErrorCode.DeliveryNotFound,
  });
});
