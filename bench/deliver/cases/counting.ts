import { until } from "../../measure/until.ts";
import type { BenchStack } from "../bench-stack.ts";
import { type CaseRun, measureCase } from "./case-run.ts";

const POLL_MS = 250;
const UNCOUNTED = "SELECT COUNT(*) FROM delivery_attempt WHERE counted = FALSE";

/**
 * Measures what comes later of every attempt: the core counts it for the dashboard, at most half a minute behind.
 * Counts all that the cases before have left, which nobody pays for twice.
 */
export async function measureCounting(stack: BenchStack): Promise<CaseRun> {
  const { product, watch } = stack;
  const count = await watch.number(UNCOUNTED);
  await product.collect();
  const startedMs = performance.now();
  return measureCase(stack, count, async () => {
    await until(async () => (await watch.number(UNCOUNTED)) === 0, POLL_MS);
    return (performance.now() - startedMs) / 1000;
  });
}
