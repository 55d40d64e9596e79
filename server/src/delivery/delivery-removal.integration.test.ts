import { AttemptOutcome, DeliveryState, WebhookEventKind } from "@activity/proto";
import { type Timestamp, timestampFromMs, timestampNow } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { writeDeliveries } from "../../../test/delivery/harness-backlog.ts";
import { type Services, startServices } from "../../../test/harness/services.ts";
import { removeOldDeliveries } from "./delivery-removal.ts";

const DAY_MICROS = 86_400_000_000;
const RETENTION_MICROS = 30 * DAY_MICROS;
const LONG_AGO = timestampFromMs(0);
/** More than are removed, or looked at, at once. */
const MANY = 1_100;

let services: Services;
let accountId: string;
let endpointId: string;
beforeAll(async () => {
  services = await startServices();
});
afterAll(() => services.stop());
beforeEach(async () => {
  for (const table of ["outbox_entry", "delivery_attempt", "delivery", "webhook_event"]) {
    await services.database.query(`DELETE FROM ${table}`);
  }
  accountId = await services.createAccount();
  const kinds = { kinds: [WebhookEventKind.DONATION_CREATED] };
  const url = "https://example.com/";
  const { endpoint } = await services.endpoints.createEndpoint({ accountId, url, kinds });
  endpointId = endpoint?.id ?? "";
});

async function record(
  deliveryId: string,
  outcome: AttemptOutcome,
  { sequence = 1, startedAt = LONG_AGO, retried = false } = {},
) {
  await services.dispatch.recordAttempt({
    sequence: { deliveryId, sequence },
    attempt: 1,
    startedAt,
    duration: {},
    outcome,
    ...(retried && { retryIn: { seconds: 60n } }),
  });
}
/** Sends a test, of which an attempt is recorded if it has an outcome. */
async function send(
  outcome?: AttemptOutcome,
  attempt: { startedAt?: Timestamp; retried?: boolean } = {},
) {
  const { deliveryId } = await services.endpoints.sendTest({ accountId, endpointId });
  if (outcome !== undefined) await record(deliveryId, outcome, attempt);
  return deliveryId;
}
/** Makes what is there, or has this in its id, so much older. */
async function age(micros: number, inIds = "") {
  for (const table of ["delivery", "webhook_event"]) {
    const update = `UPDATE ${table} SET created_at = created_at - ? WHERE id LIKE ?`;
    await services.database.query(update, [micros, `%${inIds}%`]);
  }
}
/** Writes deliveries of September 2020. */
const write = (prefix: string, many: number, state: DeliveryState = DeliveryState.FAILED) => {
  const backlog = { accountId, endpointIds: [endpointId], count: many, prefix };
  return writeDeliveries(services.database, backlog, { state, attempts: 1 });
};
const idsIn = async (table: "delivery" | "outbox_entry") => {
  const column = table === "delivery" ? "id" : "delivery_id";
  const rows = await services.database.query<{ id: string }>(
    `SELECT ${column} AS id FROM ${table}`,
  );
  return rows.map(({ id }) => id).toSorted();
};
const count = async (table: string) =>
  (await services.database.query(`SELECT 1 FROM ${table}`)).length;

it("removes what is old and has ended, and keeps what is young or under way", async () => {
  await send(AttemptOutcome.DELIVERED);
  await send(AttemptOutcome.REJECTED);
  await write("held000000", 1, DeliveryState.HELD);
  const underWay = [await send(AttemptOutcome.TIMEOUT, { retried: true }), await send()];
  await age(RETENTION_MICROS);
  const left = [...underWay, await send(AttemptOutcome.DELIVERED)].toSorted();
  await removeOldDeliveries(services.pool, RETENTION_MICROS);
  expect(await idsIn("delivery")).toEqual(left);
  expect([await count("webhook_event"), await count("delivery_attempt")]).toEqual([3, 2]);
  // No relay has marked any of them: those that are gone have left nothing to claim.
  expect(await idsIn("outbox_entry")).toEqual(left);
});

it("keeps what was attempted within the retention, however old its event is", async () => {
  const startedAt = timestampNow();
  // Its sequence took a day longer than the retention.
  const slow = await send(AttemptOutcome.REJECTED, { startedAt });
  const retried = await send(AttemptOutcome.REJECTED);
  await send(AttemptOutcome.REJECTED);
  await age(RETENTION_MICROS + DAY_MICROS);
  await services.deliveries.retryDelivery({ accountId, deliveryId: retried });
  await record(retried, AttemptOutcome.REJECTED, { sequence: 2, startedAt });
  await removeOldDeliveries(services.pool, RETENTION_MICROS);
  expect(await idsIn("delivery")).toEqual([slow, retried].toSorted());
  expect([await count("webhook_event"), await count("delivery_attempt")]).toEqual([2, 3]);
});

it("removes many, also behind as many that stay", async () => {
  const young = await write("young00000", MANY);
  await services.database.query(
    `INSERT INTO delivery_attempt SELECT delivery_no, sequence, 1, account_no,
       TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), 0, ?, NULL, NULL, '' FROM delivery`,
    [AttemptOutcome.REJECTED],
  );
  await write("old0000000", MANY);
  await removeOldDeliveries(services.pool, RETENTION_MICROS);
  expect(await idsIn("delivery")).toEqual(young.toSorted());
});

it("goes on behind what was made when the database's clock ran ahead", async () => {
  const ahead = await write("ahead00000", MANY);
  // At the end of this century.
  await age(-80 * 365 * DAY_MICROS, "ahead");
  await write("old0000000", 1);
  await removeOldDeliveries(services.pool, RETENTION_MICROS);
  expect(await idsIn("delivery")).toEqual(ahead.toSorted());
});
