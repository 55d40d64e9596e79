import { DeliveryState } from "@activity/proto";
import { createLog } from "@activity/runtime/log";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createPaidDonation } from "../../../test/harness/builders.ts";
import { openDatabaseProxy } from "../../../test/harness/database-proxy.ts";
import { type Run, useServices } from "../../../test/harness/services.ts";
import { accountNoOf } from "../common/ids.ts";
import { createPool } from "../database/pool.ts";
import { queryWithin } from "../database/query-within.ts";
import { inTransaction } from "../database/transaction.ts";
import { purgeAccount, purgeDeletedAccounts, startAccountPurge } from "./account-purge.ts";

const services = useServices();
afterEach(() => {
  vi.useRealTimers();
});

/** Deletes an account. The purge waits, because the rows that `lock` selects are locked until `check` passes. */
async function deleteWhileLocked(accountId: string, lock: string, check: () => Promise<void>) {
  // The promise is in an object, because `inTransaction` would await a bare promise.
  const { deletion } = await inTransaction(services.pool, async (tx) => {
    await tx.query(`${lock} FOR UPDATE`, [accountNoOf(accountId)]);
    const begun = services.accounts.deleteAccount({ accountId });
    await vi.waitFor(check, 30_000);
    return { deletion: begun };
  });
  await deletion;
}

async function createWithDeliveries() {
  const accountId = await services.createAccount();
  const endpointId = await services.createEndpoint(accountId);
  const older = await services.sendTest(accountId, endpointId);
  return { accountId, older, newer: await services.sendTest(accountId, endpointId) };
}

const load = async (run: Run) =>
  (await services.dispatch.loadAttempt({ run, attempt: 1 })).step.case;
const stateOf = ({ deliveryId }: Run) =>
  services.database.value<number>("SELECT state FROM delivery WHERE id = ?", [deliveryId]);

describe("a deleted account", () => {
  it("is sent nothing from the moment of its deletion, however long the purge takes", async () => {
    const { accountId, newer } = await createWithDeliveries();
    expect(await load(newer)).toBe("ready");
    // Selects the first row of this account that the purge deletes.
    const lock = "SELECT 1 FROM outbox_entry WHERE account_no = ? ORDER BY delivery_id LIMIT 1";
    await deleteWhileLocked(accountId, lock, async () =>
      expect([await load(newer), await stateOf(newer)]).toEqual(["ended", DeliveryState.CANCELED]),
    );
    expect(await services.claim()).toEqual([]);
  });

  it("loses its deliveries before its feed", async () => {
    const { accountId, older } = await createWithDeliveries();
    await createPaidDonation(services, accountId);
    const lock = "SELECT 1 FROM activity WHERE account_no = ?";
    await deleteWhileLocked(accountId, lock, async () =>
      expect(await stateOf(older)).toBeUndefined(),
    );
    expect(await load(older)).toBe("ended");
  });

  it("leaves no entry locked if the core vanishes amid the purge", async () => {
    const accountNo = accountNoOf((await createWithDeliveries()).accountId) ?? 0;
    const proxy = await openDatabaseProxy(services.database.url);
    const pool = createPool(proxy.url, 1);
    const entries = "SELECT 1 FROM outbox_entry WHERE account_no = ?";
    const { purge } = await inTransaction(services.pool, async (tx) => {
      await tx.query(`${entries} FOR UPDATE`, [accountNo]);
      const begun = purgeAccount(pool, accountNo).catch((error: unknown) => error);
      const isDeleting = () => services.database.isRunning("DELETE FROM outbox_entry");
      await expect.poll(isDeleting).toBe(true);
      proxy.fallSilent();
      return { purge: begun };
    });
    await expect.poll(() => services.database.query(entries, [accountNo])).toEqual([]);
    await proxy.stop();
    expect(await purge).toBeInstanceOf(Error);
    await pool.end();
  });

  it("leaves reads their connections, however often its purge is asked for", async () => {
    const accountNo = accountNoOf((await createWithDeliveries()).accountId) ?? 0;
    const pool = createPool(services.database.url, 2);
    const { purges } = await inTransaction(services.pool, async (tx) => {
      await tx.query("SELECT 1 FROM outbox_entry WHERE account_no = ? FOR UPDATE", [accountNo]);
      const begun = Array.from({ length: 5 }, () => purgeAccount(pool, accountNo));
      const isDeleting = () => services.database.isRunning("DELETE FROM outbox_entry");
      await expect.poll(isDeleting).toBe(true);
      // Fails after ten seconds if purges that wait for the lock hold both connections.
      await queryWithin(pool, "SELECT 1", []);
      return { purges: Promise.all(begun) };
    });
    await purges;
    await purgeAccount(pool, accountNo);
    await pool.end();
  });

  it("is purged even if a run of the purge fails", async () => {
    const log: string[] = [];
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const stop = startAccountPurge(
      services.pool,
      createLog((line) => log.push(line)),
    );
    const { accountId } = await createWithDeliveries();
    await services.database.query("UPDATE account SET deleted_at = 1 WHERE id = ?", [accountId]);
    await services.database.queryShards("RENAME TABLE donation TO donation_away");
    vi.advanceTimersToNextTimer();
    await vi.waitFor(
      () => expect(log.join()).toContain("purge of deleted accounts failed"),
      30_000,
    );
    await services.database.queryShards("RENAME TABLE donation_away TO donation");
    const unpurged = "SELECT 1 FROM account WHERE id = ? AND purged_at IS NULL";
    const purged = async () => {
      vi.advanceTimersToNextTimer();
      expect(await services.database.query(unpurged, [accountId])).toEqual([]);
    };
    await vi.waitFor(purged, 30_000);
    stop();
  });

  it("does not hide another's failure behind an outage", async () => {
    const [full, broken] = [await createWithDeliveries(), await createWithDeliveries()];
    const mark = "UPDATE account SET deleted_at = ? WHERE id = ?";
    await services.database.query(mark, [1, full.accountId]);
    await services.database.query(mark, [2, broken.accountId]);
    // 1026 is the error number of a full disk, which is an outage. 1644 is no outage.
    const failing = `IF OLD.account_no = ${accountNoOf(full.accountId)}
      THEN SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1026;
      ELSE SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1644; END IF`;
    const purge = () => purgeDeletedAccounts(services.pool);
    const purging = services.database.withTrigger("BEFORE DELETE ON outbox_entry", purge, failing);
    await expect(purging).rejects.toMatchObject({ errno: 1644 });
  });
});
