import { AttemptOutcome, DeliveryState, WebhookEventKind } from "@activity/proto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Services, startServices } from "../../../test/harness/services.ts";
import { createPool, type Pool } from "../database/pool.ts";
import { createAttemptRecorder, type MadeAttempt } from "./record-attempts.ts";

let services: Services;
let pool: Pool;
let accountId: string;
let endpointId: string;
beforeAll(async () => {
  services = await startServices();
  pool = createPool(services.database.url, 4);
  accountId = await services.createAccount();
  const kinds = { kinds: [WebhookEventKind.DONATION_CREATED] };
  const url = "https://example.com/hook";
  const { endpoint } = await services.endpoints.createEndpoint({ accountId, url, kinds });
  endpointId = endpoint?.id ?? "";
});
afterAll(async () => {
  await pool.end();
  await services.stop();
});

async function sendTests(count: number): Promise<string[]> {
  const sent = Array.from({ length: count }, () =>
    services.endpoints.sendTest({ accountId, endpointId }),
  );
  return (await Promise.all(sent)).map(({ deliveryId }) => deliveryId);
}

function made(deliveryId: string, changes: Partial<MadeAttempt>): MadeAttempt {
  return {
    ...{ deliveryId, sequence: 1, attempt: 1, startedAt: 1, durationMicros: 1 },
    ...{ outcome: AttemptOutcome.DELIVERED, statusCode: 200, detail: undefined },
    ...{ responseBody: new Uint8Array(), retryInMicros: undefined },
    ...changes,
  };
}

const stateOf = async (deliveryId: string) =>
  (await services.deliveries.getDelivery({ accountId, deliveryId })).delivery?.state;

it("records each of many that end at once as it ended, and none twice", async () => {
  const ends = [
    [{ outcome: AttemptOutcome.DELIVERED }, DeliveryState.DELIVERED],
    [{ outcome: AttemptOutcome.REJECTED }, DeliveryState.FAILED],
    [{ outcome: AttemptOutcome.TIMEOUT, retryInMicros: 6e7 }, DeliveryState.HANDED_OVER],
  ] as const;
  const ids = await sendTests(150);
  const record = createAttemptRecorder(pool);
  const endOf = (index: number) => ends[index % 3] ?? ends[0];
  const first = ids.map((id, index) => record(made(id, endOf(index)[0])));
  const again = ids.map((id) => record(made(id, { outcome: AttemptOutcome.NETWORK_ERROR })));
  const outcomes = ids.map((_, index) => endOf(index)[0].outcome);
  expect(await Promise.all(first)).toEqual(outcomes);
  expect(await Promise.all(again)).toEqual(outcomes);
  expect(await Promise.all(ids.map(stateOf))).toEqual(ids.map((_, index) => endOf(index)[1]));
});

it("fails one that cannot be stored, and none of those that end with it", async () => {
  const ids = await sendTests(10);
  const record = createAttemptRecorder(pool);
  const tooHigh = 70_000;
  const settled = await Promise.allSettled(
    ids.map((id, index) => record(made(id, { statusCode: index === 5 ? tooHigh : 200 }))),
  );
  expect(settled.map(({ status }) => status === "fulfilled")).toEqual(ids.map((_, i) => i !== 5));
  const waiting = ids.map((_, i) => (i === 5 ? DeliveryState.WAITING : DeliveryState.DELIVERED));
  expect(await Promise.all(ids.map(stateOf))).toEqual(waiting);
});

it("answers with the outcome when the delivery is gone", async () => {
  const outcome = AttemptOutcome.RECEIVER_BUSY;
  expect(await createAttemptRecorder(pool)(made("nobodydelivery0", { outcome }))).toBe(outcome);
});
