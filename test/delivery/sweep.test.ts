import { beforeAll, expect, it } from "vitest";
import { createAccount, createPaidDonation } from "../harness/builders.ts";
import { useDeliveryStack } from "./harness-deliveries.ts";
import { answer } from "./harness-receiver-behaviours.ts";

const ONCE_SWEPT = { timeout: 20_000 };

// The core that is written to has no dispatcher, so nobody notifies one.
const delivery = useDeliveryStack(answer(200), { delivers: false });
let accountId: string;
beforeAll(async () => {
  accountId = await createAccount(delivery.stack);
  await delivery.startDelivering();
});

it("§6.4 finds what another core committed, and sends it once", async () => {
  await delivery.createEndpoint(accountId);
  for (let sent = 1; sent <= 2; sent++) {
    const { recordId } = await createPaidDonation(delivery.stack, accountId);
    const arrived = () => delivery.requestsAbout(recordId).length;
    await expect.poll(arrived, ONCE_SWEPT).toBe(1);
    expect(delivery.receiver.requests).toHaveLength(sent);
  }
});
