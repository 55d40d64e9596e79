import { grouped } from "../report/table.ts";
import type { Bench } from "../run/bench.ts";
import type { Stack } from "./stack.ts";

/** One of these is asleep after a later attempt: a worker makes a timer in three transactions, a delayed start in one. */
const PORTIONS = 10;

/**
 * Puts deliveries to sleep as the product leaves them. Nine of ten are as after the first failed
 * attempt: a delayed start. One is as after a later attempt: a `deliver` that runs, on a timer.
 * Returns how many Temporal took a second.
 */
export async function addSleepers(
  { progress }: Bench,
  { floor, state, temporal: { address, stateFile } }: Stack,
  count: number,
): Promise<number> {
  const before = state.countAsleep();
  let seconds = 0;
  await progress.step(`Putting ${grouped(count)} deliveries to sleep`, async (report) => {
    const portion = Math.ceil(count / PORTIONS);
    for (let first = 0; first < count; first += portion) {
      const some = Math.min(portion, count - first);
      const after = first === 0 ? "later" : "first";
      seconds += await floor.jobs.sleep(address, stateFile, after, first, some);
      report(`${first + some}`);
    }
  });
  const asleep = state.countAsleep() - before;
  if (asleep < count) throw new Error(`${asleep} deliveries sleep of ${count}`);
  return count / seconds;
}
