import type { Log } from "@activity/runtime/log";
import { startPeriodicJob } from "../common/periodic-job.ts";
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
/** DeleteAccount purges too, and has mostly finished by then. */
const LEFT_TO_DELETER_MICROS = 60_000_000;
/** Rows deleted at once: so few that a reader or writer of other accounts never waits long. */
const ROWS_AT_ONCE = 5_000;

/** Starts finishing the deletions that were broken off; returns how to stop it. */
export function startAccountPurge(pool: Pool, log: Log): () => void {
  return startPeriodicJob("purge of deleted accounts", INTERVAL_MS, log, () =>
    purgeDeletedAccounts(pool),
  );
}

/**
 * Finishes the deletions that were broken off a minute ago or more, by the end of the process for one.
 * Those that fail keep none of the others waiting; then it throws the failure of one of them.
 */
export async function purgeDeletedAccounts(pool: Pool): Promise<void> {
  const failures: unknown[] = [];
  for (const accountNo of await listUnpurgedAccounts(pool, LEFT_TO_DELETER_MICROS)) {
    await purgeAccount(pool, accountNo).catch((cause) => failures.push(cause));
  }
  if (failures.length > 0) throw failures[0];
}

/** Deletes all data of an account that is marked as deleted; two may do so at a time. */
export async function purgeAccount(pool: Pool, accountNo: number): Promise<void> {
  for (const table of DATA_TABLES) {
    let deleted: number;
    do {
      // What records attempts locks deliveries in another order: the loser of a deadlock runs again.
      deleted = await inTransaction(pool, (tx) =>
        deleteDataRows(tx, table, accountNo, ROWS_AT_ONCE),
      );
    } while (deleted === ROWS_AT_ONCE);
  }
  await inTransaction(pool, (tx) => deleteNoticesOf(tx, accountNo));
  await markPurged(pool, accountNo);
}
