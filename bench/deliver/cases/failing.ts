import { until } from "../../measure/until.ts";
import { concurrently, type Target } from "../../stack/targets.ts";
import type { BenchStack } from "../bench-stack.ts";
import { writeEvents } from "../workload.ts";
import { type CaseRun, measureCase } from "./case-run.ts";

const POLL_MS = 50;
const STATUS = 500;
const END_RUNNING =
  "UPDATE delivery SET state = 5, next_attempt_at = NULL WHERE created_at > ? AND state = 2";
const RUNNING = "WorkflowType = 'deliver' AND ExecutionStatus = 'Running'";

/**
 * Measures a backlog whose receiver fails: from the first claim until every first attempt is recorded and
 * every retry waits on a timer in Temporal's synced state.
 */
export async function measureFailing(
  stack: BenchStack,
  targets: readonly Target[],
  count: number,
): Promise<CaseRun> {
  const { product, receiver, watch, temporalState, temporal } = stack;
  const since = await watch.now();
  const asleepBefore = temporalState.countAsleep();
  const { count: runningBefore } = await temporal.count(RUNNING);
  await writeEvents(await product.collect(), targets, count);
  receiver.reset(STATUS);
  await product.deliver();
  const startedMs = performance.now();
  const run = await measureCase(stack, count, async () => {
    await receiver.arrived(count);
    await until(async () => {
      const sql = "SELECT COUNT(*) FROM delivery WHERE created_at > ? AND attempts >= 1";
      return (await watch.number(sql, [since])) === count;
    }, POLL_MS);
    await until(() => temporalState.countAsleep() - asleepBefore >= count, POLL_MS);
    return (performance.now() - startedMs) / 1000;
  });
  await product.stop();
  const { count: running } = await temporal.count(RUNNING);
  if (running - runningBefore < count) {
    throw new Error(`${running - runningBefore} of ${count} deliveries wait for their retry`);
  }
  // Their retries would fall due in the middle of another measurement, or be found overdue there.
  const ids = await watch.rows<{ id: string }>("SELECT id FROM delivery WHERE created_at > ?", [
    since,
  ]);
  await concurrently(ids, ({ id }) => temporal.getHandle(`delivery-${id}-1`).terminate());
  await watch.change(END_RUNNING, [since]);
  return run;
}
