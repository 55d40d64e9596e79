import { AttemptOutcome, DeliveryState } from "@activity/proto";
import { timestampFromMs, timestampNow } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { writeDeliveries } from "../../../test/harness/backlog.ts";
import { useOwner } from "../../../test/harness/owner.ts";
import { useServices } from "../../../test/harness/services.ts";
import { inTransaction } from "../database/transaction.ts";
import { countAttempts } from "../delivery-stat/delivery-stat.ts";
import { removeOldDeliveries } from "./delivery-removal.ts";
import { lockEnded } from "./delivery-removal-store.ts";

const DAY_MS = 86_400_000;
const DAY_MICROS = DAY_MS * 1_000;
const RETENTION_MICROS = 30 * DAY_MICROS;
/** This many deliveries are more than one chunk of the removal. */
const MANY = 1_100;

const services = useServices();
const { own, sendTest, retry } = useOwner(services, {
  clears: ["outbox_entry", "delivery_attempt", "delivery", "webhook_event"],
});

/** Sends a test. With an `outcome`, records an attempt of September 2020, unless `changes` have another time. */
async function send(outcome?: AttemptOutcome, changes?: Parameters<typeof services.record>[2]) {
  const run = await sendTest();
  if (outcome !== undefined) await services.record(run, outcome, changes);
  return run;
}
/** Counts all attempts, because uncounted ones are kept. Then makes all deliveries older. */
async function age(micros: number) {
  await countAttempts(services.pool);
  await services.database.query("UPDATE delivery SET created_at = created_at - ?", [micros]);
}
/** Writes deliveries of one moment in September 2020. */
function writeOfOneMoment(many: number, state: DeliveryState) {
  const backlog = { accountId: own.accountId, endpointIds: [own.endpointId], count: many };
  return writeDeliveries(services.database, backlog, { state, attempts: 1 });
}
/** Writes deliveries of September 2020, each a microsecond after the one before. */
async function write(many: number, state: DeliveryState = DeliveryState.FAILED) {
  const ids = await writeOfOneMoment(many, state);
  await services.database.query(
    "UPDATE delivery SET created_at = created_at + RIGHT(id, 5) WHERE id IN (?)",
    [ids],
  );
  return ids;
}
const idsIn = async (table: "delivery" | "outbox_entry") => {
  const column = table === "delivery" ? "id" : "delivery_id";
  const ids = await services.database.column<string>(`SELECT ${column} FROM ${table}`);
  return ids.toSorted();
};
const count = async (table: string) =>
  (await services.database.query(`SELECT 1 FROM ${table}`)).length;

it("removes old deliveries that have ended, and keeps recent and running ones", async () => {
  await send(AttemptOutcome.DELIVERED);
  await send(AttemptOutcome.REJECTED);
  // Gives the attempt a wrong date, further ahead than a clock may be.
  const startedAt = timestampFromMs(Date.now() + 2 * DAY_MS);
  await send(AttemptOutcome.REJECTED, { startedAt });
  await write(1, DeliveryState.PAUSED);
  await write(1, DeliveryState.CANCELED);
  await write(1, DeliveryState.ERASED);
  const running = [await send(AttemptOutcome.TIMEOUT, { retryIn: { seconds: 60n } }), await send()];
  await age(RETENTION_MICROS);
  const left = [...running, await send(AttemptOutcome.DELIVERED)].map(
    ({ deliveryId }) => deliveryId,
  );
  await removeOldDeliveries(services.pool, RETENTION_MICROS);
  expect(await idsIn("delivery")).toEqual(left.toSorted());
  expect([await count("webhook_event"), await count("delivery_attempt")]).toEqual([3, 2]);
  expect(await idsIn("outbox_entry")).toEqual(running.map(({ deliveryId }) => deliveryId));
});

it("keeps deliveries that were attempted within the retention, however old their event is", async () => {
  const startedAt = timestampNow();
  // The run of `slow` took a day longer than the retention.
  const slow = await send(AttemptOutcome.REJECTED, { startedAt });
  const retried = await send(AttemptOutcome.REJECTED);
  await send(AttemptOutcome.REJECTED);
  await age(RETENTION_MICROS + DAY_MICROS);
  await retry(retried);
  await services.record({ ...retried, run: 2 }, AttemptOutcome.REJECTED, { startedAt });
  await removeOldDeliveries(services.pool, RETENTION_MICROS);
  const kept = [slow, retried].map(({ deliveryId }) => deliveryId);
  expect(await idsIn("delivery")).toEqual(kept.toSorted());
  expect([await count("webhook_event"), await count("delivery_attempt")]).toEqual([2, 3]);
});

it("keeps a delivery that its owner retries after the removal listed it", async () => {
  const { accountNo, ...run } = await send(AttemptOutcome.REJECTED);
  await age(RETENTION_MICROS);
  const listed = [{ ...run, accountNo: Number(accountNo) }];
  const locked = () => inTransaction(services.pool, (tx) => lockEnded(tx, listed));
  expect(await locked()).toHaveLength(1);
  await retry({ accountNo, ...run });
  expect(await locked()).toEqual([]);
});

it("keeps a delivery that another transaction has locked, and does not wait for it", async () => {
  const [locked] = [await send(AttemptOutcome.REJECTED), await send(AttemptOutcome.REJECTED)];
  await age(RETENTION_MICROS);
  await services.whileLocked(locked, () => removeOldDeliveries(services.pool, RETENTION_MICROS));
  expect(await idsIn("delivery")).toEqual([locked.deliveryId]);
});

it("removes many, also after as many that stay", async () => {
  const young = await write(MANY);
  await services.database.query(
    `INSERT INTO delivery_attempt (account_no, delivery_id, run, attempt, started_at, duration, outcome,
       response_body)
     SELECT account_no, id, run, 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), 0, ?, ''
     FROM delivery`,
    [AttemptOutcome.REJECTED],
  );
  await write(MANY);
  await removeOldDeliveries(services.pool, RETENTION_MICROS);
  expect(await idsIn("delivery")).toEqual(young.toSorted());
});

it("still removes newer deliveries while the removal of the oldest fails", async () => {
  const [oldest = ""] = await write(MANY);
  const failing = `IF OLD.id = '${oldest}' THEN SIGNAL SQLSTATE '45000'; END IF`;
  const remove = () => removeOldDeliveries(services.pool, RETENTION_MICROS);
  const removal = services.database.withTrigger("BEFORE DELETE ON delivery", remove, failing);
  await expect(removal).rejects.toThrow();
  const left = await idsIn("delivery");
  expect(left).toContain(oldest);
  // At most the chunk of the oldest delivery is left.
  expect(left.length).toBeLessThan(MANY / 2);
});

it("removes many of one moment, as writes that share a commit create them", async () => {
  await writeOfOneMoment(MANY, DeliveryState.FAILED);
  await write(1);
  await removeOldDeliveries(services.pool, RETENTION_MICROS);
  expect(await idsIn("delivery")).toEqual([]);
});

it("also removes deliveries that were written after the database's clock was ahead", async () => {
  const ahead = await write(MANY);
  // Moves the deliveries to the year 2100.
  await age(-80 * 365 * DAY_MICROS);
  await write(1);
  await removeOldDeliveries(services.pool, RETENTION_MICROS);
  expect(await idsIn("delivery")).toEqual(ahead.toSorted());
});
