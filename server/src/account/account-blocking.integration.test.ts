import { AttemptOutcome, DeliveryState } from "@activity/proto";
import { describe, expect, it } from "vitest";
import { createPaidDonation } from "../../../test/harness/builders.ts";
import { useOwner } from "../../../test/harness/owner.ts";
import { EVER, firstRunOf, type Run, useServices } from "../../../test/harness/services.ts";
import { ErrorCode } from "../common/errors.ts";

const unavailable = { code: ErrorCode.AccountUnavailable };

const services = useServices();
const { own, sendTest, stateOf, retry } = useOwner(services);

/** Pays a donation and returns the first run of its event's delivery. */
async function pay(): Promise<Run> {
  const { accountId } = own;
  await createPaidDonation(services, accountId);
  const { deliveries } = await services.deliveries.listDeliveries({ accountId, pageSize: 1 });
  return firstRunOf(accountId, deliveries[0]?.id ?? "");
}
const block = () => services.accounts.blockAccount({ accountId: own.accountId });
const unblock = () => services.accounts.unblockAccount({ accountId: own.accountId });
const retryFailed = () => services.deliveries.retryFailedDeliveries({ ...own, ...EVER });

describe("while an account is blocked, §6.4", () => {
  it("failed, pending and paused deliveries cannot be retried, and no test can be sent", async () => {
    const failed = await sendTest();
    await services.record(failed, AttemptOutcome.REJECTED);
    const running = await sendTest();
    await block();
    const paused = await pay();
    for (const run of [failed, running, paused]) {
      await expect(retry(run)).rejects.toMatchObject(unavailable);
    }
    await expect(retryFailed()).rejects.toMatchObject(unavailable);
    const test = services.endpoints.sendTest(own);
    await expect(test).rejects.toMatchObject(unavailable);
    const { deliveries } = await services.deliveries.listDeliveries({ accountId: own.accountId });
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
    expect((await services.claim()).toSorted()).toEqual([first.deliveryId, paused.deliveryId]);
  });
});
