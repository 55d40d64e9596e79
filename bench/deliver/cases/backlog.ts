import type { DeliveryWorkflows } from "../../../workflows/src/config.ts";
import { until } from "../../measure/until.ts";
import type { Target } from "../../stack/targets.ts";
import type { BenchStack } from "../bench-stack.ts";
import { writeEvents } from "../workload.ts";
import { type CaseRun, measureCase } from "./case-run.ts";

/** Often enough that it shows in no rate, seldom enough that the database does not notice. */
const POLL_MS = 10;
/** The stored number of DeliveryState.DELIVERED. */
const DELIVERED = 3;

/**
 * Measures a backlog, written while nobody delivers: from the first claim until every delivery is recorded
 * as answered with a 2xx. `workflows` are the runs that are workflows: those with a retry unless told.
 */
export async function measureBacklog(
  stack: BenchStack,
  targets: readonly Target[],
  count: number,
  workflows?: DeliveryWorkflows,
): Promise<CaseRun> {
  const { product, receiver, watch } = stack;
  const since = await watch.now();
  await writeEvents(await product.collect(), targets, count);
  receiver.reset(200);
  await product.deliver(workflows);
  const startedMs = performance.now();
  const run = await measureCase(stack, count, async () => {
    await receiver.arrived(count);
    await until(async () => {
      const sql = "SELECT COUNT(*) FROM delivery WHERE created_at > ? AND state = ?";
      return (await watch.number(sql, [since, DELIVERED])) === count;
    }, POLL_MS);
    return (performance.now() - startedMs) / 1000;
  });
  await product.stop();
  return run;
}
