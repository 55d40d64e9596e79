import { lookupOf } from "../database/lookup.ts";
import type { Statement } from "../database/packet.ts";
import type { RowDataPacket } from "../database/pool.ts";
import { RUNNING_STATES } from "../dispatch/delivery-state.ts";

/** The most endpoints that one write removes. A write creates only one, so deleted endpoints do not accumulate. */
const MAX_REMOVED = 100;

/**
 * No delivery to the endpoint runs. Each state has its own subquery, because with `state IN (…)` MariaDB would read all
 * deliveries of the endpoint.
 */
const NONE_RUNS = RUNNING_STATES.map(
  (state) => `(SELECT 1 FROM delivery d FORCE INDEX (delivery_endpoint_state_kind)
      WHERE d.account_no = e.account_no AND d.endpoint_id = e.id AND d.state = ${state} LIMIT 1) IS NULL`,
).join("\n    AND ");

/**
 * Looks up an account's deleted endpoints that have no running delivery. No further run to them can begin. Reads at
 * most one index entry for each endpoint and running state, even if there are many deliveries.
 */
export const removableEndpointsOf = lookupOf<RowDataPacket & { id: string }, string>({
  select: "SELECT e.account_no, e.id FROM endpoint e",
  key: ["e.account_no"],
  ending: `AND e.deleted_at IS NOT NULL
    AND ${NONE_RUNS}
    LIMIT ${MAX_REMOVED}`,
  fromRow: (row) => row.id,
});

/** Removes the rows of an account's deleted endpoints (at least one). */
export function removeEndpoints(accountNo: number, ids: readonly string[]): Statement {
  return {
    sql: "DELETE FROM endpoint WHERE account_no = ? AND id IN (?)",
    values: [accountNo, ids],
  };
}
