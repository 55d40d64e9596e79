import { grouped } from "../report/table.ts";
import type { Bench } from "../run/bench.ts";
import type { Stack } from "./stack.ts";

/**
 * The number of portions of sleepers. Only one portion sleeps after a later attempt, because its timers cost three
 * transactions each. The delayed starts of the others cost one each.
 */
const PORTIONS = 10;

/**
 * Creates sleeping deliveries as the product leaves them. Nine in ten wait after the first failed attempt, with a
 * delayed start. One in ten waits after a later attempt, as a running `deliver` with a timer. Returns how many Temporal
 * accepted per second.
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
