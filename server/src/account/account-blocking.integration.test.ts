import { AttemptOutcome, DeliveryState } from "@activity/proto";
import { beforeEach, describe, expect, it } from "vitest";
import { createPaidDonation } from "../../../test/harness/builders.ts";
import { EVER, useServices } from "../../../test/harness/services.ts";
import { ErrorCode } from "../common/errors.ts";

const unavailable = { code: ErrorCode.AccountUnavailable };

const services = useServices();
let accountId: string;
let endpointId: string;
beforeEach(async () => {
  accountId = await services.createAccount();
  endpointId = await services.createEndpoint(accountId);
});

/** Pays a donation and returns the delivery of its event. */
async function pay(): Promise<string> {
  await createPaidDonation(services, accountId);
  const { deliveries } = await services.deliveries.listDeliveries({ accountId, pageSize: 1 });
  return deliveries[0]?.id ?? "";
}
const block = () => services.accounts.blockAccount({ accountId });
const unblock = () => services.accounts.unblockAccount({ accountId });
const stateOf = async (deliveryId: string) =>
  (await services.deliveries.getDelivery({ accountId, deliveryId })).delivery?.state;
const retry = (deliveryId: string) => services.deliveries.retryDelivery({ accountId, deliveryId });
const retryFailed = () =>
  services.deliveries.retryFailedDeliveries({ accountId, endpointId, ...EVER });

describe("while an account is blocked, §6.4", () => {
  it("failed, pending and paused deliveries cannot be retried, and no test can be sent", async () => {
    const failed = await services.sendTest(accountId, endpointId);
    await services.record(failed, AttemptOutcome.REJECTED);
    const running = await services.sendTest(accountId, endpointId);
    await block();
    const paused = await pay();
    for (const deliveryId of [failed.deliveryId, running.deliveryId, paused]) {
      await expect(retry(deliveryId)).rejects.toMatchObject(unavailable);
    }
    await expect(retryFailed()).rejects.toMatchObject(unavailable);
    const test = services.endpoints.sendTest({ accountId, endpointId });
    await expect(test).rejects.toMatchObject(unavailable);
    const { deliveries } = await services.deliveries.listDeliveries({ accountId });
    expect(deliveries.map(({ run }) => run)).toEqual([1, 1, 1]);
  });

  it("its runs end and new deliveries are paused, and after it is unblocked both can be retried", async () => {
    const first = await pay();
    await block();
    expect(await services.claim()).toEqual([]);
    await expect.poll(() => stateOf(first)).toBe(DeliveryState.CANCELED);
    const paused = await pay();
    await unblock();
    expect(await services.claim()).toEqual([]);
    expect(await stateOf(paused)).toBe(DeliveryState.PAUSED);
    expect((await retry(first)).delivery).toMatchObject({ state: DeliveryState.PENDING, run: 2 });
    expect(await retryFailed()).toMatchObject({ retried: 1n });
    expect((await services.claim()).toSorted()).toEqual([first, paused]);
  });
});
