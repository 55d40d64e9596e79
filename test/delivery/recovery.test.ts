import { AttemptOutcome, DeliveryState } from "@activity/proto";
import { beforeEach, expect, it } from "vitest";
import { useDeliveryStack } from "./harness-deliveries.ts";
import { answer } from "./harness-receiver-behaviours.ts";

const delivery = useDeliveryStack(answer(503));
let owner: Awaited<ReturnType<typeof delivery.createOwner>>;
beforeEach(async () => {
  delivery.receiver.behaviour = answer(503);
  owner = await delivery.createOwner();
});

/** The look for overdue deliveries comes every five seconds. */
const settled = { timeout: 40_000, interval: 200 };
const outcomesOf = async (deliveryId: string) =>
  (await delivery.read(owner.accountId, deliveryId)).attempts.map(({ outcome }) => outcome);
/** Sends a test event whose first attempt fails, and whose workflow is begun. */
async function failOnce() {
  const sent = await delivery.sendTest(owner);
  const { RECEIVER_BUSY } = AttemptOutcome;
  await expect.poll(() => outcomesOf(sent.deliveryId), settled).toEqual([RECEIVER_BUSY]);
  await expect.poll(() => delivery.entriesOf(sent.deliveryId), settled).toEqual([]);
  return sent;
}

/** Lets what is retried be as late as nothing is that Temporal still knows. */
const makeOverdue = () =>
  delivery.stack.database.query(
    `UPDATE delivery d JOIN delivery_attempt a ON a.account_no = d.account_no AND a.delivery_id = d.id
     SET d.next_attempt_at = d.next_attempt_at - 900000000, a.started_at = a.started_at - 900000000
     WHERE d.state = ?`,
    [DeliveryState.RETRYING],
  );

const runOf = (deliveryId: string) =>
  delivery.askWorkflow(deliveryId, async (workflow) => (await workflow.describe()).runId);

it("tells in Temporal's UI how the first attempt ended, before the workflow has begun. ADR 0028", async () => {
  const { deliveryId } = await failOnce();
  const summary = await delivery.askWorkflow(deliveryId, async (workflow) =>
    (await workflow.describe()).staticSummary(),
  );
  expect(summary).toBe("attempt 1: receiver_busy");
});

it("leaves a workflow that only sleeps too long as it is", async () => {
  const { deliveryId, eventId } = await failOnce();
  const before = await runOf(deliveryId);
  await makeOverdue();
  const foundOverdue = () =>
    delivery.stack.database.query(
      `SELECT 1 AS found FROM delivery WHERE id = ? AND state = ?
       AND next_attempt_at > TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) - 60000000`,
      [deliveryId, DeliveryState.RETRYING],
    );
  await expect.poll(foundOverdue, settled).toHaveLength(1);
  await expect.poll(() => delivery.entriesOf(), settled).toEqual([]);
  expect(await runOf(deliveryId)).toBe(before);
  expect(delivery.attemptsOf(eventId)).toEqual(["1"]);
});
