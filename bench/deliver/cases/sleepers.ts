import type { Progress } from "../../../tools/stack/progress.ts";
import type { BenchStack } from "../bench-stack.ts";

/** Sleepers are made in portions, so that progress can be shown. */
const PORTION = 2_000;

/**
 * Puts deliveries to sleep, each a `deliver` that runs, on a timer of its own: as a delivery leaves it that was
 * claimed alone or whose second or later attempt failed. A first attempt that fails in a shared workflow leaves
 * a delayed start, in which no worker takes part. Returns how many a second Temporal took.
 */
export async function addSleepers(
  {
    floorWorker,
    temporalState,
    temporalStateFile: stateFile,
    temporalAddress: address,
  }: BenchStack,
  count: number,
  progress: Progress,
): Promise<number> {
  const before = temporalState.countAsleep();
  let seconds = 0;
  await progress.step(
    `Putting ${count.toLocaleString("en")} deliveries to sleep`,
    async (report) => {
      for (let first = 0; first < count; first += PORTION) {
        const workflows = Math.min(PORTION, count - first);
        const answer = await floorWorker.run({ do: "sleep", address, stateFile, first, workflows });
        seconds += answer.seconds;
        report(`${first + workflows}`);
      }
    },
  );
  const asleep = temporalState.countAsleep() - before;
  if (asleep < count) throw new Error(`${asleep} deliveries sleep of ${count}`);
  return count / seconds;
}
