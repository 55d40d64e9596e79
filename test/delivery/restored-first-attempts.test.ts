import { afterAll, beforeAll, expect, it } from "vitest";
import { RETRY_SLOTS } from "../../workflows/src/workflow/attempt-slots.ts";
import { writePending } from "../harness/backlog.ts";
import { runRestored } from "../harness/restored.ts";
import { useDeliveryStack } from "./harness-deliveries.ts";
import { answer } from "./harness-receiver-behaviours.ts";

const { perEndpoint } = RETRY_SLOTS;
const RESTORED = 2 * perEndpoint;

/** The receiver hangs. */
const delivery = useDeliveryStack(() => undefined, {
  delivers: false,
  env: { DELIVERY_WORKFLOWS: "all" },
});
let endpointId: string;
beforeAll(async () => {
  const owner = await delivery.createOwner();
  ({ endpointId } = owner);
  const { database } = delivery.stack;
  const backlog = { accountId: owner.accountId, endpointIds: [endpointId], count: RESTORED };
  await writePending(database, backlog);
  await runRestored(database);
  await delivery.startDelivering();
});
// Otherwise a stop waits for the attempts in flight.
afterAll(() => {
  delivery.receiver.behaviour = answer(200);
  for (const socket of delivery.receiver.sockets()) socket.destroy();
});

it("a worker makes 16 first attempts of a restored database at an endpoint that hangs, and reschedules the others. ADR 0028", async () => {
  const { stack, receiver } = delivery;
  const begun = async () => {
    const rescheduled = await stack.database.query(
      `SELECT 1 FROM delivery WHERE next_attempt_at >
         (SELECT MIN(next_attempt_at) FROM delivery WHERE endpoint_id = ?)`,
      [endpointId],
    );
    return receiver.requests.length + rescheduled.length;
  };
  await expect.poll(begun).toBe(RESTORED);
  expect(receiver.requests).toHaveLength(perEndpoint);
});
