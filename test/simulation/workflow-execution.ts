import type { Run } from "../../workflows/src/common/run.ts";
import type { DeliverInput, RunResult } from "../../workflows/src/workflow/contract.ts";
import { createRunStory } from "../../workflows/src/workflow/run-story.ts";
import { createRandom } from "./random.ts";
import type { TemporalWorker } from "./temporal.ts";
import { EPOCH_MS, type World } from "./world.ts";

/** What came of one step of a workflow, and when. */
export type HistoryEntry = {
  readonly atMs: number;
  readonly isFailed: boolean;
  readonly result: unknown;
};

/** A workflow, as Temporal keeps it. */
export type Workflow = {
  readonly input: DeliverInput;
  state: "running" | "completed" | "terminated";
  result?: RunResult;
  history: HistoryEntry[];
  execution?: Execution | undefined;
};

/** A workflow in a worker's memory, which may know more than Temporal does. */
export type Execution = {
  readonly worker: TemporalWorker;
  readonly entries: HistoryEntry[];
  /** There while it sleeps. */
  wakeUp: (() => void) | undefined;
};

const ACTIVITY_TIMEOUT_MS = 20_000;
/** A task that takes longer tells Temporal what it has so far. */
const HEARTBEAT_MS = 8_000;

/** Runs a workflow on a worker: what its history holds is replayed, and the rest done. */
export function execute({
  world,
  workflow,
  worker,
  save,
  sleep,
  onEnd,
}: {
  readonly world: World;
  readonly workflow: Workflow;
  readonly worker: TemporalWorker;
  /** Tells Temporal all that is known; false when the task was lost. */
  readonly save: (execution: Execution) => boolean;
  /** Sets a timer, whose end Temporal writes into the history. */
  readonly sleep: (milliseconds: number) => void;
  readonly onEnd: (run: Run) => void;
}): void {
  const { input } = workflow;
  const execution: Execution = { worker, entries: [...workflow.history], wakeUp: undefined };
  workflow.execution = execution;
  const never = new Promise<never>(() => undefined);
  const isCurrent = () => workflow.execution === execution;
  const random = createRandom(input.deliveryId.length + input.run);
  let place = 0;
  let nowMs = execution.entries[0]?.atMs ?? world.nowMs();

  async function next(perform: () => Promise<HistoryEntry>): Promise<unknown> {
    const known = execution.entries[place];
    const entry = known ?? (await perform());
    if (!isCurrent()) return never;
    if (known === undefined) execution.entries[place] = entry;
    place += 1;
    nowMs = entry.atMs;
    if (entry.isFailed) throw new Error("the activity failed");
    return entry.result;
  }

  const activity = (work: () => Promise<unknown>) => () =>
    new Promise<HistoryEntry>((resolve) => {
      const end = (isFailed: boolean) => (result: unknown) => {
        beat();
        late();
        resolve({ atMs: world.nowMs(), isFailed, result });
      };
      const beat = world.after(HEARTBEAT_MS, () => save(execution), worker.process);
      const late = world.after(ACTIVITY_TIMEOUT_MS, () => end(true)(undefined), worker.process);
      work().then(end(false), end(true));
    });

  const story = createRunStory(input, {
    // What activities return stands in the history as they returned it.
    attempt: (next_) => next(activity(() => worker.activities.attempt(next_))) as never,
    record: (made) => next(activity(() => worker.activities.record(made))) as never,
    async sleep(milliseconds) {
      await next(async () => {
        if (!save(execution)) return never;
        sleep(milliseconds);
        await new Promise<void>((resolve) => {
          execution.wakeUp = resolve;
        });
        execution.wakeUp = undefined;
        return workflow.history[place] ?? never;
      });
    },
    nowMs: () => EPOCH_MS + nowMs,
    random: random.next,
  });
  story.run().then((result) => {
    if (!save(execution)) return;
    workflow.state = "completed";
    workflow.result = result;
    workflow.execution = undefined;
    onEnd(input);
  });
}
