import { type Change, statementsOf } from "../database/change.ts";
import type { Packets, Statement } from "../database/packet.ts";
import type { Pool } from "../database/pool.ts";
import { inTransaction } from "../database/transaction.ts";
import { findAttempt, isAccountDeleted, rescheduleAttempt } from "./attempt-store.ts";
import {
  cancelRuns,
  countLeased,
  deleteEntries,
  leaseEntries,
  listAttemptsOfRuns,
  listClaimable,
  loadLeasedAttempts,
  loadLeasedRetries,
  releaseEntries,
  renewLeases,
} from "./claim-store.ts";
import type { DispatchChanges, DispatchStore } from "./dispatch-store.ts";
import { readInstallationId } from "./installation-store.ts";
import { lockOverdue, makeDue } from "./orphaned-run-store.ts";
import { insertOutboxEntries, Task } from "./outbox-store.ts";
import {
  type LockedRow,
  listPresent,
  lockedDeliveryFromRow,
  lockFreeDeliveries,
  storeAttempt,
  turnIntoRetries,
  updateAfterAttempt,
} from "./record-store.ts";

/** Creates the store on a database. Transactions of `packets` never wait for an account's lock. */
export function createSqlDispatchStore(pool: Pool, packets: Packets): DispatchStore {
  return {
    readInstallationId: () => readInstallationId(pool),
    listClaimable: (...args) => listClaimable(pool, ...args),
    countLeased: (...args) => countLeased(pool, ...args),
    leaseEntries: (...args) => leaseEntries(pool, ...args),
    releaseEntries: (...args) => releaseEntries(pool, ...args),
    async renewLeases(runs) {
      await packets.run([renewLeases(runs)]);
    },
    loadLeasedAttempts: (...args) => loadLeasedAttempts(pool, ...args),
    loadLeasedRetries: (...args) => loadLeasedRetries(pool, ...args),
    listAttemptsOfRuns: (runs) => listAttemptsOfRuns(pool, runs),
    findAttempt: (...args) => findAttempt(pool, ...args),
    isAccountDeleted: (accountNo) => isAccountDeleted(pool, accountNo),
    rescheduleAttempt: (...args) => rescheduleAttempt(pool, ...args),
    listPresent: (keys) => listPresent(pool, keys),
    async change(changes) {
      await packets.run(statementsFrom(changes));
    },
    changeFree: (keys, decide) =>
      packets.loadAndStore([lockFreeDeliveries(keys)], ([rows = []]) => {
        const { changes, result } = decide((rows as LockedRow[]).map(lockedDeliveryFromRow));
        return { statements: statementsFrom(changes), result };
      }),
    resumeOverdue: (overdueMicros, limit) =>
      inTransaction(pool, async (tx) => {
        const runs = await lockOverdue(tx, overdueMicros, limit);
        if (runs.length === 0) return 0;
        const entries = runs.map((run) => ({ ...run, task: Task.BeginRetries }));
        await insertOutboxEntries(tx, entries);
        await makeDue(tx, runs);
        return runs.length;
      }),
  };
}

/** Returns the changes' statements. An empty list adds none. */
function statementsFrom({
  attempts = [],
  outcomes = [],
  canceled = [],
  retried = [],
  deleted = [],
}: DispatchChanges): Statement[] {
  const changes: Change[] = [
    ...attempts.map(storeAttempt),
    ...outcomes.map(({ keys, after }) => updateAfterAttempt(keys, after)),
  ];
  if (canceled.length > 0) changes.push(cancelRuns(canceled));
  if (retried.length > 0) changes.push(turnIntoRetries(retried));
  if (deleted.length > 0) changes.push(deleteEntries(deleted));
  return statementsOf(changes);
}
