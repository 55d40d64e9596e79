import type { Insert, Table } from "../database/change.ts";
import type { Transaction } from "../database/transaction.ts";
import type { RunKey } from "./run-key.ts";

/** The task of a dispatcher for an entry, numbered as in the stored column. */
export const Task = {
  /** Make the first attempt. */
  Attempt: 1,
  /** Begin the workflow that makes the retries. */
  BeginRetries: 2,
} as const;
export type Task = (typeof Task)[keyof typeof Task];

/** The length of a lease: ten seconds for an attempt, and four to record it. */
export const LEASE_MICROS = 14_000_000;

export type NewOutboxEntry = RunKey & { readonly endpointId: string; readonly task: Task };

/** Replaces an existing entry of the delivery, which is of the same run or an earlier one. */
const OUTBOX_ENTRY: Table = {
  insert: `INSERT INTO outbox_entry
    (account_no, delivery_id, endpoint_id, run, task, lease_id, leased_until)`,
  ending: `ON DUPLICATE KEY UPDATE run = VALUES(run), task = VALUES(task),
    lease_id = VALUES(lease_id), leased_until = VALUES(leased_until)`,
};

/** Puts a run into the outbox, leased if it has a `leaseId`. `nowMicros` is by the database's clock. */
export function newOutboxEntry(
  entry: NewOutboxEntry & { readonly leaseId?: string | undefined },
  nowMicros: number,
): Insert {
  const { accountNo, deliveryId, endpointId, run, task, leaseId } = entry;
  const leasedUntil = leaseId === undefined ? null : nowMicros + LEASE_MICROS;
  return {
    into: OUTBOX_ENTRY,
    row: [accountNo, deliveryId, endpointId, run, task, leaseId ?? null, leasedUntil],
  };
}

/** Puts runs (at least one) into the outbox, claimable at once. */
export async function insertOutboxEntries(
  tx: Transaction,
  entries: readonly NewOutboxEntry[],
): Promise<void> {
  const { insert, ending } = OUTBOX_ENTRY;
  const row = "(?, ?, ?, ?, ?, NULL, NULL)";
  await tx.query(
    `${insert} VALUES ${entries.map(() => row).join(", ")} ${ending}`,
    entries.flatMap(({ accountNo, deliveryId, endpointId, run, task }) => [
      ...[accountNo, deliveryId, endpointId, run, task],
    ]),
  );
}
