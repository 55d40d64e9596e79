import type { Run } from "../../workflows/src/common/run.ts";
import type { DeliverInput, RunResult } from "../../workflows/src/workflow/contract.ts";
import { createRandom } from "./random.ts";
import type { TemporalWorker } from "./temporal.ts";
import { EPOCH_MS, type World } from "./world.ts";

type Step = "attempt" | "record" | "sleep";
type StepEnd = { readonly atMs: number; readonly isFailed: boolean; readonly result: unknown };

/** The result of one step of a workflow. */
type HistoryEntry = StepEnd & { readonly step: Step };

/** A workflow that Temporal stores. */
export type Workflow = {
  readonly input: DeliverInput;
  state: "running" | "completed" | "terminated";
  result?: RunResult;
  history: HistoryEntry[];
  execution?: Execution | undefined;
};

/** A workflow in a worker's memory. It can have more entries than Temporal. */
export type Execution = {
  readonly worker: TemporalWorker;
  readonly entries: HistoryEntry[];
  /** `undefined` while it does not sleep. */
  wakeUp: (() => void) | undefined;
  /** When its workflow task began. */
  taskSinceMs: number;
};

const ACTIVITY_TIMEOUT_MS = 20_000;
/** A task that takes longer saves its progress, and continues as a new task. */
const HEARTBEAT_MS = 16_000;

/** What a worker tells Temporal. */
export type TemporalCalls = {
  /** Saves all entries. Returns false if the task was lost. */
  readonly save: (execution: Execution) => boolean;
  /** Sets a timer. Temporal writes its end into the history. */
  readonly sleep: (milliseconds: number) => void;
  readonly onEnd: (run: Run) => void;
  /** A worker's code takes another step than the history. */
  readonly onDiverged: (run: Run, what: string) => void;
};

/** Runs a workflow with a worker's code. It replays the entries of its history, and performs the other steps. */
export function execute(
  world: World,
  workflow: Workflow,
  worker: TemporalWorker,
  { save, sleep, onEnd, onDiverged }: TemporalCalls,
): void {
  const { input } = workflow;
  const execution: Execution = {
    ...{ worker, entries: [...workflow.history], wakeUp: undefined, taskSinceMs: world.nowMs() },
  };
  workflow.execution = execution;
  const never = new Promise<never>(() => undefined);
  const random = createRandom(input.deliveryId.length + input.run);
  let place = 0;
  let nowMs = execution.entries[0]?.atMs ?? world.nowMs();

  async function next(step: Step, begin: () => Promise<StepEnd>): Promise<unknown> {
    const known = execution.entries[place];
    if (known !== undefined && known.step !== step) {
      onDiverged(input, `has ${known.step} in its history, and ${step} in its code`);
      return never;
    }
    const entry = known ?? { step, ...stored(await begin()) };
    if (workflow.execution !== execution) return never;
    if (known === undefined) execution.entries[place] = entry;
    place += 1;
    nowMs = entry.atMs;
    if (entry.isFailed) throw new Error("the activity failed");
    return entry.result;
  }

  const perform = (work: () => Promise<unknown>) =>
    new Promise<StepEnd>((resolve) => {
      const end = (isFailed: boolean) => (result: unknown) => {
        beat();
        late();
        resolve({ atMs: world.nowMs(), isFailed, result: isFailed ? undefined : result });
      };
      const beatIn = (milliseconds: number): (() => void) =>
        world.after(milliseconds, () => save(execution) && beatAgain(), worker.process);
      const beatAgain = () => {
        beat = beatIn(HEARTBEAT_MS);
      };
      let beat = beatIn(Math.max(0, execution.taskSinceMs + HEARTBEAT_MS - world.nowMs()));
      const late = world.after(ACTIVITY_TIMEOUT_MS, () => end(true)(undefined), worker.process);
      work().then(end(false), end(true));
    });
  /** Performs an activity as a step. The history holds its answer unchanged. */
  const activity = <Answer>(step: Step, work: () => Promise<Answer>) =>
    next(step, () => perform(work)) as Promise<Answer>;

  const story = worker.createRunStory(input, {
    attempt: (due) => activity("attempt", () => worker.activities.attempt(due)),
    record: (made) => activity("record", () => worker.activities.record(made)),
    async sleep(milliseconds) {
      await next("sleep", async () => {
        if (!save(execution)) return never;
        sleep(milliseconds);
        await new Promise<void>((resolve) => {
          execution.wakeUp = resolve;
        });
        execution.wakeUp = undefined;
        execution.taskSinceMs = world.nowMs();
        return workflow.history[place] ?? never;
      });
    },
    nowMs: () => EPOCH_MS + nowMs,
    random: random.next,
  });
  story.run().then((result) => {
    if (!save(execution)) return;
    workflow.state = "completed";
    workflow.result = stored(result);
    workflow.execution = undefined;
    onEnd(input);
  });
}

/** Returns a value as Temporal stores it. */
export function stored<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value));
}
