import type { RowDataPacket } from "../database/pool.ts";
import type { Transaction } from "../database/transaction.ts";
import { RUNNING_STATES } from "../dispatch/delivery-state.ts";

/**
 * Lists at most `most` deleted endpoints of an account that the transaction has locked of which nobody needs
 * the row any more: no delivery to them runs, and none can begin to.
 */
export async function listRemovableEndpoints(
  tx: Transaction,
  accountNo: number,
  most: number,
): Promise<string[]> {
  // One look into the index an endpoint, however many deliveries it has. What is in the outbox runs.
  const [rows] = await tx.query<(RowDataPacket & { id: string })[]>(
    `SELECT e.id FROM endpoint e WHERE e.account_no = ? AND e.deleted_at IS NOT NULL
       AND (SELECT 1 FROM delivery d FORCE INDEX (delivery_endpoint_state_kind)
         WHERE d.account_no = e.account_no AND d.endpoint_id = e.id AND d.state IN (?) LIMIT 1) IS NULL
     LIMIT ${most}`,
    [accountNo, RUNNING_STATES],
  );
  return rows.map((row) => row.id);
}

/** Removes the rows of deleted endpoints of an account; at least one. */
export async function removeEndpoints(
  tx: Transaction,
  accountNo: number,
  ids: readonly string[],
): Promise<void> {
  await tx.query("DELETE FROM endpoint WHERE account_no = ? AND id IN (?)", [accountNo, ids]);
}
