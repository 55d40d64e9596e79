import type { Log } from "@activity/runtime/log";
import { startPeriodicJob } from "../common/periodic-job.ts";
import { retryAfterDeadlock } from "../database/deadlock.ts";
import { isOutage } from "../database/outage.ts";
import type { Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import { deleteNoticesOf } from "../notice/notice-store.ts";
import {
  DATA_TABLES,
  deleteDataRows,
  listUnpurgedAccounts,
  markPurged,
} from "./account-deletion-store.ts";

const INTERVAL_MS = 60_000;
/** How long after a deletion the job leaves the account to the `DeleteAccount` call, which usually purges it. */
const PURGE_DELAY_MICROS = 60_000_000;
/** Maximum rows per statement: few, so that readers and writers of other accounts never wait long. */
const ROWS_AT_ONCE = 5_000;

/** Starts a job that every minute finishes interrupted deletions. Returns a function that stops it. */
export function startAccountPurge(pool: Pool, log: Log): () => void {
  return startPeriodicJob("purge of deleted accounts", INTERVAL_MS, log, () =>
    purgeDeletedAccounts(pool),
  );
}

/**
 * Finishes deletions that began at least a minute ago and are not finished, for example because their process ended. If
 * some fail, it still tries the others. Then it throws one failure. It throws an outage only if all failures are
 * outages, because an outage must not hide another failure.
 */
export async function purgeDeletedAccounts(pool: Pool): Promise<void> {
  const failures: unknown[] = [];
  for (const accountNo of await listUnpurgedAccounts(pool, PURGE_DELAY_MICROS)) {
    await purgeAccount(pool, accountNo).catch((cause) => failures.push(cause));
  }
  if (failures.length > 0) throw failures.find((one) => !isOutage(one)) ?? failures[0];
}

/** The running purges, by pool and account. */
const running = new WeakMap<Pool, Map<number, Promise<void>>>();

/**
 * Deletes all data of an account that is marked as deleted. Joins this process's running purge of the account, because
 * a second purge would occupy a connection while it waits for the first one's row locks. Other processes may purge too.
 */
export function purgeAccount(pool: Pool, accountNo: number): Promise<void> {
  const purges = running.get(pool) ?? new Map<number, Promise<void>>();
  running.set(pool, purges);
  const purge =
    purges.get(accountNo) ?? deleteData(pool, accountNo).finally(() => purges.delete(accountNo));
  purges.set(accountNo, purge);
  return purge;
}

async function deleteData(pool: Pool, accountNo: number): Promise<void> {
  for (const table of DATA_TABLES) {
    let deleted: number;
    do {
      // Calls that record attempts lock deliveries in another order, so deadlocks occur. The loser runs again.
      deleted = await retryAfterDeadlock(() =>
        deleteDataRows(pool, table, accountNo, ROWS_AT_ONCE),
      );
    } while (deleted === ROWS_AT_ONCE);
  }
  await inTransaction(pool, (tx) => deleteNoticesOf(tx, accountNo));
  await markPurged(pool, accountNo);
}
