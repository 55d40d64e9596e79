import { expect, it } from "vitest";
import { useDeliveryStack } from "./harness-deliveries.ts";
import { answer } from "./harness-receiver-behaviours.ts";

const SETTLED = { timeout: 40_000, interval: 100 };
/** Longer than the test waits, and no longer than a lease can be: nobody claims the entry again meanwhile. */
const LONGER_MICROS = 50_000_000;

const delivery = useDeliveryStack(answer(503));

it("what Temporal acknowledged leaves the outbox under its lease, as soon as the database lets it. ADR 0028", async () => {
  const { database } = delivery.stack;
  const owner = await delivery.createOwner();
  await database.query(
    `CREATE TRIGGER nothing_leaves BEFORE DELETE ON outbox_entry FOR EACH ROW
     SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'nothing leaves'`,
  );
  const { deliveryId } = await delivery.sendTest(owner);
  const runId = () =>
    delivery.askWorkflow(deliveryId, (workflow) =>
      workflow.describe().then(
        (described) => described.runId,
        () => undefined,
      ),
    );
  await expect.poll(runId, SETTLED).toBeDefined();
  const begun = await runId();
  await database.query(
    `UPDATE outbox_entry SET leased_until = leased_until + ${LONGER_MICROS}
     WHERE lease_id IS NOT NULL AND task = 2`,
  );
  expect(await delivery.entriesOf()).toEqual([{ task: 2 }]);
  await database.query("DROP TRIGGER nothing_leaves");
  await expect.poll(() => delivery.entriesOf(), SETTLED).toEqual([]);
  expect(await runId()).toBe(begun);
}, 120_000);
