import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdReusePolicy,
  type WorkflowStartOptions,
} from "@temporalio/client";
import type { Run } from "../../workflows/src/common/run.ts";
import type { WorkflowTarget } from "../../workflows/src/dispatcher/begin-workflow.ts";
import {
  type Activities,
  type AttemptAnswer,
  type DeliverInput,
  deliverWorkflowId,
} from "../../workflows/src/workflow/contract.ts";
import type { createRunStory } from "../../workflows/src/workflow/run-story.ts";
import { Fault, type Faults } from "./faults.ts";
import type { Random } from "./random.ts";
import {
  type Execution,
  execute,
  stored,
  type TemporalCalls,
  type Workflow,
} from "./workflow-execution.ts";
import type { Process, World } from "./world.ts";

/** How long a workflow task may take before Temporal gives it to any worker again. */
const TASK_TIMEOUT_MS = 20_000;
/** The shares of sleeping workflows that a worker keeps in its cache. A large cache keeps all. */
const CACHED_SHARES = [0.8, 1];

/** A worker: the process of a dispatcher, its activities, and the code of its workflows. */
export type TemporalWorker = {
  readonly process: Process;
  readonly activities: Activities;
  readonly createRunStory: typeof createRunStory;
};

export type Temporal = ReturnType<typeof createTemporal>;

/**
 * Creates a Temporal without workflows. Calls `onEnd` for each run whose workflow completes, and `onDiverged` for each
 * run whose history a worker's code cannot continue.
 */
export function createTemporal(
  world: World,
  faults: Faults,
  random: Random,
  { onEnd, onDiverged }: Pick<TemporalCalls, "onEnd" | "onDiverged">,
) {
  const workflows = new Map<string, Workflow>();
  /** For each workflow, when a worker lost its task or Temporal forgot the workflow. */
  const moves = new Map<string, number[]>();
  const forgotten = new Set<string>();
  const workers = new Set<TemporalWorker>();
  /** The workflows whose next task waits for a worker. */
  const ready = new Set<Workflow>();
  const cachedShare = random.pick(CACHED_SHARES);
  let isAway = false;

  function noteMove(id: string): void {
    moves.set(id, [...(moves.get(id) ?? []), world.nowMs()]);
  }

  function wake(workflow: Workflow): void {
    if (workflow.state !== "running") return;
    ready.add(workflow);
    giveTasks();
  }

  function giveTasks(): void {
    if (isAway || workers.size === 0) return;
    for (const workflow of ready) {
      ready.delete(workflow);
      const { execution } = workflow;
      const isCached =
        execution !== undefined && workers.has(execution.worker) && random.chance(cachedShare);
      if (isCached && execution.wakeUp !== undefined) execution.wakeUp();
      else run(workflow, random.pick([...workers]));
    }
  }

  function run(workflow: Workflow, worker: TemporalWorker): void {
    const save = (execution: Execution) => saveProgress(workflow, execution);
    const sleep = (milliseconds: number) => {
      world.after(milliseconds, () => {
        const ended = { step: "sleep", isFailed: false, result: undefined } as const;
        workflow.history.push({ ...ended, atMs: world.nowMs() });
        wake(workflow);
      });
    };
    execute(world, workflow, worker, { save, sleep, onEnd, onDiverged });
  }

  /** Returns whether the progress of a worker reached Temporal. If not, Temporal gives the task to any worker again. */
  function saveProgress(workflow: Workflow, execution: Execution): boolean {
    if (workflow.execution !== execution || workflow.state !== "running") return false;
    const { fault } = faults.pass(`temporal task ${execution.worker.process.name}`);
    if (fault === undefined && !isAway) {
      workflow.history = [...execution.entries];
      // Temporal answers with the next task.
      execution.taskSinceMs = world.nowMs();
      return true;
    }
    loseTask(workflow);
    return false;
  }

  function loseTask(workflow: Workflow): void {
    noteMove(deliverWorkflowId(workflow.input));
    const sinceMs = workflow.execution?.taskSinceMs ?? world.nowMs();
    workflow.execution = undefined;
    const leftMs = Math.max(0, sinceMs + TASK_TIMEOUT_MS - world.nowMs());
    world.after(leftMs, () => wake(workflow));
  }

  function start(options: WorkflowStartOptions): void {
    const [input] = stored(options.args) as [DeliverInput];
    const { workflowId: id } = options;
    const known = workflows.get(id);
    if (known?.state === "running") return;
    const isForFailed =
      options.workflowIdReusePolicy === WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY;
    if (known?.state === "completed" && isForFailed) {
      throw new WorkflowExecutionAlreadyStartedError("it has ended", id, "deliver");
    }
    const fresh: Workflow = { input, state: "running", history: [] };
    workflows.set(id, fresh);
    world.after(Number(options.startDelay ?? 0), () => wake(fresh));
  }

  /** Makes a call of a process. Its answer can be late or lost, or an error although the call took effect. */
  function call<Answer>(process: Process, untilMs: number, work: () => Answer): Promise<Answer> {
    const answer = Promise.withResolvers<Answer>();
    const { thereMs, backMs, fault } = faults.pass(`temporal call ${process.name}`);
    const back = (settle: () => void) => world.after(backMs, settle, process);
    const fail = (error: unknown) => back(() => answer.reject(error));
    world.after(untilMs - world.nowMs(), () => answer.reject(new Error("deadline")), process);
    world.after(thereMs, () => {
      if (isAway || fault === Fault.Refused) return fail(new Error("away"));
      if (fault === Fault.Lost) return undefined;
      try {
        const result = work();
        if (fault === Fault.Broken) return fail(new Error("connection lost"));
        return fault === Fault.AnswerLost ? undefined : back(() => answer.resolve(result));
      } catch (error) {
        return fail(error);
      }
    });
    return answer.promise;
  }

  return {
    /** Adds a worker. Returns a function that removes it; a kill removes it too. */
    connect(worker: TemporalWorker): () => void {
      workers.add(worker);
      worker.process.onKill(() => {
        workers.delete(worker);
        for (const workflow of workflows.values()) {
          if (workflow.execution?.worker !== worker) continue;
          if (isAtWork(workflow)) loseTask(workflow);
          else workflow.execution = undefined;
        }
      });
      giveTasks();
      return () => workers.delete(worker);
    },

    /** Creates the client of a process, with the methods of the SDK's client that `beginWorkflow` uses. */
    client(process: Process): WorkflowTarget["client"] {
      let untilMs = Infinity;
      const client = {
        withDeadline(deadline: number, work: () => Promise<unknown>) {
          untilMs = world.nowMs() + deadline - process.wallMs();
          return work();
        },
        start: (_type: string, options: WorkflowStartOptions) =>
          call(process, untilMs, () => start(options)),
        getHandle: (id: string) => ({
          result: () => call(process, untilMs, () => workflows.get(id)?.result),
        }),
      };
      // The SDK's client has many more methods.
      return client as unknown as WorkflowTarget["client"];
    },

    setAway(is: boolean): void {
      isAway = is;
      giveTasks();
    },

    /** Forgets a workflow, so that its run is orphaned. */
    forget(id: string): void {
      const workflow = workflows.get(id);
      if (workflow !== undefined) {
        workflow.state = "terminated";
        ready.delete(workflow);
      }
      forgotten.add(id);
      workflows.delete(id);
      noteMove(id);
    },

    /** Lists the ids of running workflows, oldest first. */
    runningIds: () =>
      [...workflows].filter(([, { state }]) => state === "running").map(([id]) => id),

    /** Returns when a worker lost a task of a run, or Temporal forgot the run. */
    movesOf: (run: Run) => moves.get(deliverWorkflowId(run)) ?? [],

    /** Whether a run has a running workflow, or a forgotten one. */
    hadWorkflow(run: Run): boolean {
      const id = deliverWorkflowId(run);
      return workflows.get(id)?.state === "running" || forgotten.has(id);
    },

    /** Whether a workflow was begun by a claim of first attempts, or forgotten. */
    isClaimed: (run: Run) => workflows.get(deliverWorkflowId(run))?.input.made === undefined,

    /** How many attempts of a run Temporal knows. */
    attemptsOf(run: Run): number {
      const workflow = workflows.get(deliverWorkflowId(run));
      if (workflow?.result !== undefined) return workflow.result.attempts.length;
      const made = workflow?.history.filter(({ isFailed, result }) => {
        const { kind } = (result ?? {}) as Partial<AttemptAnswer>;
        return !isFailed && (kind === "made" || kind === "recorded");
      });
      return (workflow?.input.made?.length ?? 0) + (made?.length ?? 0);
    },

    /** Whether any workflow has a task, except for ignored deliveries. A sleeping workflow has none. */
    isBusy(isIgnored: (deliveryId: string) => boolean): boolean {
      const isWatched = ({ input }: Workflow) => !isIgnored(input.deliveryId);
      for (const workflow of ready) if (isWatched(workflow)) return true;
      for (const workflow of workflows.values()) {
        if (isAtWork(workflow) && isWatched(workflow)) return true;
      }
      return false;
    },
  };
}

function isAtWork({ state, execution }: Workflow): boolean {
  return state === "running" && execution !== undefined && execution.wakeUp === undefined;
}
