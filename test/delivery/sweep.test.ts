import { beforeAll, expect, it } from "vitest";
import { createPaidDonation } from "../harness/builders.ts";
import { bodyOf, useDeliveryStack } from "./harness-deliveries.ts";
import { answer } from "./harness-receiver-behaviours.ts";

const ONCE_SWEPT = { timeout: 20_000 };

// Tests write to a core without a dispatcher, so no write notifies a poller.
const delivery = useDeliveryStack(answer(200), { delivers: false });
beforeAll(async () => {
  await delivery.startDelivering();
});

it("§6.4 finds an event that another core committed, and sends it once", async () => {
  const { accountId } = await delivery.createOwner();
  const ids: string[] = [];
  const received = () => delivery.receiver.requests.map((request) => bodyOf(request).data.id);
  for (let sent = 1; sent <= 2; sent++) {
    ids.push((await createPaidDonation(delivery.stack, accountId)).recordId);
    await expect.poll(received, ONCE_SWEPT).toEqual(ids);
  }
});
