import type { Progress } from "../../../dev-stack/src/progress.ts";
import type { BenchStack } from "../bench-stack.ts";

/** One of these is asleep after a later attempt: a timer is made by a worker in three transactions, a delayed start in one. */
const PORTIONS = 10;

/**
 * Puts deliveries to sleep as the product leaves them. Nine of ten are as after the first failed
 * attempt: a delayed start. One is as after a later attempt: a `deliver` that runs, on a timer.
 * Returns how many Temporal took a second.
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
      const portion = Math.ceil(count / PORTIONS);
      for (let first = 0; first < count; first += portion) {
        const workflows = Math.min(portion, count - first);
        const after = first === 0 ? "later" : "first";
        const job = { do: "sleep", after, address, stateFile, first, workflows } as const;
        const answer = await floorWorker.run(job);
        seconds += answer.seconds;
        report(`${first + workflows}`);
      }
    },
  );
  const asleep = temporalState.countAsleep() - before;
  if (asleep < count) throw new Error(`${asleep} deliveries sleep of ${count}`);
  return count / seconds;
}
