import mysql, { type RowDataPacket } from "mysql2/promise";
import { createClients } from "../../../dev-stack/src/demo.ts";
import type { Receiver } from "../../deliver/receiver.ts";
import { writeEvents } from "../../deliver/workload.ts";
import { until } from "../../measure/until.ts";
import type { Target } from "../../stack/targets.ts";
import type { CaseRun, MeasuredSide } from "./measure-case.ts";

/** Seldom enough that the databases do not notice. */
const POLL_MS = 100;
/** The stored number of DeliveryState.DELIVERED. */
const DELIVERED = 3;
/** Added to the task of an entry, it is one that nobody claims. */
const HELD = 100;

/**
 * Measures a backlog from the first claim until every delivery is recorded. It is held until the product runs: its
 * first attempts begin before it does, and its start is no part of what a delivery costs.
 */
export async function measureDeliveries(
  side: MeasuredSide,
  receiver: Receiver,
  targets: readonly Target[],
  count: number,
): Promise<CaseRun> {
  const shards = await Promise.all(side.store.shardUrls.map((uri) => mysql.createConnection(uri)));
  const onAll = <Row extends RowDataPacket>(sql: string) =>
    Promise.all(shards.map((shard) => shard.query<Row[]>(sql)));
  const countDelivered = async () => {
    const sql = `SELECT COUNT(*) AS deliveries FROM delivery WHERE state = ${DELIVERED}`;
    return (await onAll(sql)).reduce((sum, [[row]]) => sum + Number(row?.deliveries), 0);
  };
  const run = async (delivers: boolean) => {
    const { corePort } = await side.run(delivers);
    return createClients(`http://127.0.0.1:${corePort}`, side.credential);
  };
  try {
    const before = await countDelivered();
    await writeEvents(await run(false), targets, count - 1);
    await onAll(`UPDATE outbox_entry SET task = task + ${HELD}`);
    receiver.reset(200);
    const clients = await run(true);
    await onAll(`UPDATE outbox_entry SET task = task - ${HELD} WHERE task > ${HELD}`);
    const [seconds, cpuMs] = await side.measure(async () => {
      const startedMs = performance.now();
      // The last one notifies those that claim.
      await writeEvents(clients, targets, 1);
      await receiver.arrived(count);
      await until(async () => (await countDelivered()) === before + count, POLL_MS);
      return (performance.now() - startedMs) / 1_000;
    });
    return { count, perSecond: count / seconds, cpuMs };
  } finally {
    await side.rest();
    await Promise.all(shards.map((shard) => shard.end()));
  }
}
