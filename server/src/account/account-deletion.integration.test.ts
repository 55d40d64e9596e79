import { WebhookEventKind } from "@activity/proto";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type Services, startServices } from "../../../test/harness/services.ts";
import { inTransaction } from "../database/transaction.ts";
import { createLog } from "../log.ts";
import { startAccountPurge } from "./account-purge.ts";

let services: Services;
beforeAll(async () => {
  services = await startServices();
});
afterEach(() => {
  vi.useRealTimers();
});
afterAll(() => services.stop());

/** Deletes an account while a statement's locks keep its purge from going on, until `check` is through. */
async function deleteWhileLocked(accountId: string, lock: string, check: () => Promise<void>) {
  // Not the promise itself, for which the transaction would wait.
  const { deletion } = await inTransaction(services.pool, async (tx) => {
    await tx.query(`${lock} FOR UPDATE`, [accountId]);
    const begun = services.accounts.deleteAccount({ accountId });
    await vi.waitFor(check, 5_000);
    return { deletion: begun };
  });
  await deletion;
}
const ACCOUNT_NO = "(SELECT account_no FROM account WHERE id = ?)";

/** An account with one delivery that waits. */
async function createWithDelivery() {
  const accountId = await services.createAccount();
  const kinds = { kinds: [WebhookEventKind.DONATION_CREATED] };
  const url = "https://example.com/hook";
  const { endpoint } = await services.endpoints.createEndpoint({ accountId, url, kinds });
  const endpointId = endpoint?.id ?? "";
  const { deliveryId } = await services.endpoints.sendTest({ accountId, endpointId });
  return { accountId, deliveryId };
}

const load = async (deliveryId: string) => {
  const sequence = { deliveryId, sequence: 1 };
  return (await services.dispatch.loadAttempt({ sequence, attempt: 1 })).step.case;
};

describe("a deleted account", () => {
  it("is sent nothing from the moment of its deletion, however long the purge takes", async () => {
    const { accountId, deliveryId } = await createWithDelivery();
    expect(await load(deliveryId)).toBe("ready");
    // What is purged first.
    const lock = `SELECT 1 FROM outbox_entry WHERE account_no = ${ACCOUNT_NO}`;
    await deleteWhileLocked(accountId, lock, async () =>
      expect(await load(deliveryId)).toBe("canceled"),
    );
    expect(await load(deliveryId)).toBe("ended");
  });

  it("ends its deliveries before its feed", async () => {
    const { accountId, deliveryId } = await createWithDelivery();
    const donation = { accountId, externalId: "donation" };
    const money = { amountCents: 500n, currency: "eur" };
    await services.donations.createDonation({ ...donation, ...money, donatedAt: {} });
    await services.donations.payDonation(donation);
    const lock = `SELECT 1 FROM activity WHERE account_no = ${ACCOUNT_NO}`;
    await deleteWhileLocked(accountId, lock, async () =>
      expect(await load(deliveryId)).toBe("ended"),
    );
  });

  it("is purged in the end, when a run of the purge failed too", async () => {
    const log: string[] = [];
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const stop = startAccountPurge(
      services.pool,
      createLog((line) => log.push(line)),
    );
    const { accountId } = await createWithDelivery();
    await services.database.query("UPDATE account SET deleted_at = 1 WHERE id = ?", [accountId]);
    await services.database.query("RENAME TABLE donation TO donation_away");
    vi.advanceTimersToNextTimer();
    await vi.waitFor(() => expect(log.join()).toContain("purge of deleted accounts failed"), 5_000);
    await services.database.query("RENAME TABLE donation_away TO donation");
    const unpurged = "SELECT 1 FROM account WHERE id = ? AND purged_at IS NULL";
    const purged = async () => {
      vi.advanceTimersToNextTimer();
      expect(await services.database.query(unpurged, [accountId])).toEqual([]);
    };
    await vi.waitFor(purged, 5_000);
    stop();
  });
});
