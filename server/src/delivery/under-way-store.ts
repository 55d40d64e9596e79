import { NOW_MICROS } from "../database/now.ts";
import type { Pool, RowDataPacket } from "../database/pool.ts";
import { DeliveryState } from "./delivery-state.ts";

type Row = RowDataPacket & { endpoint_id: string; deliveries: number };

/**
 * Counts what is under way at each endpoint: entries that a relay has claimed, and first attempts that
 * were handed over at most so long ago. Reads those and nothing else, however many deliveries there are.
 */
export async function countUnderWay(
  pool: Pool,
  sinceMicros: number,
): Promise<ReadonlyMap<string, number>> {
  const [rows] = await pool.execute<Row[]>(
    `SELECT endpoint_id, COUNT(*) AS deliveries FROM outbox_entry FORCE INDEX (outbox_entry_lease)
     WHERE claimable_at > ${NOW_MICROS} GROUP BY endpoint_id
     UNION ALL
     SELECT endpoint_id, COUNT(*) FROM delivery FORCE INDEX (delivery_next_attempt)
     WHERE state = ${DeliveryState.HandedOver} AND next_attempt_at > ${NOW_MICROS} - ?
       AND next_attempt_at <= ${NOW_MICROS} AND attempts = 0 GROUP BY endpoint_id`,
    [sinceMicros],
  );
  const counts = new Map<string, number>();
  for (const { endpoint_id: endpointId, deliveries } of rows) {
    counts.set(endpointId, (counts.get(endpointId) ?? 0) + deliveries);
  }
  return counts;
}
