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
  type RunResult,
} from "../../workflows/src/workflow/contract.ts";
import { Fault, type Faults } from "./faults.ts";
import type { Random } from "./random.ts";
import { type Execution, execute, type Workflow } from "./workflow-execution.ts";
import { EPOCH_MS, type Process, type World } from "./world.ts";

/** How long a workflow task may be silent before another worker is given it. */
const TASK_TIMEOUT_MS = 10_000;
/** How often a worker keeps a workflow that sleeps in its cache: one that has room keeps all. */
const CACHED_SHARES = [0.8, 1] as const;

/** A worker: a dispatcher's process and its activities. */
export type TemporalWorker = { readonly process: Process; readonly activities: Activities };

/** Temporal: what it has of each workflow, who works for it, and whether it is there. */
export type Temporal = ReturnType<typeof createTemporal>;

/** Creates a Temporal that knows no workflow. */
export function createTemporal(
  world: World,
  faults: Faults,
  random: Random,
  onEnd: (run: Run) => void,
) {
  const workflows = new Map<string, Workflow>();
  /** When tasks of a run were taken from their worker, or it was forgotten. */
  const moves = new Map<string, number[]>();
  const forgotten = new Set<string>();
  const workers = new Set<TemporalWorker>();
  /** Whose next task no worker was given yet. */
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
    const [first, ...others] = workers;
    if (isAway || first === undefined) return;
    for (const workflow of ready) {
      ready.delete(workflow);
      const { execution } = workflow;
      const isCached =
        execution !== undefined && workers.has(execution.worker) && random.chance(cachedShare);
      if (isCached && execution.wakeUp !== undefined) execution.wakeUp();
      else run(workflow, random.pick([first, ...others]));
    }
  }

  function run(workflow: Workflow, worker: TemporalWorker): void {
    const save = (execution: Execution) => saved(workflow, execution);
    const sleep = (milliseconds: number) => {
      world.after(milliseconds, () => {
        workflow.history.push({ atMs: world.nowMs(), isFailed: false, result: undefined });
        wake(workflow);
      });
    };
    execute({ world, workflow, worker, save, sleep, onEnd });
  }

  /** Whether a worker's progress reached Temporal; if not, its task is given away again. */
  function saved(workflow: Workflow, execution: Execution): boolean {
    if (workflow.execution !== execution || workflow.state !== "running") return false;
    const { fault } = faults.pass(`temporal task ${execution.worker.process.name}`);
    if (fault === undefined && !isAway) {
      workflow.history = [...execution.entries];
      return true;
    }
    noteMove(deliverWorkflowId(workflow.input));
    workflow.execution = undefined;
    world.after(TASK_TIMEOUT_MS, () => wake(workflow));
    return false;
  }

  function start(input: DeliverInput, options: WorkflowStartOptions): void {
    const id = deliverWorkflowId(input);
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

  /** One call of a process: its answer may be late, lost, or an error of what took effect. */
  function ask<Answer>(process: Process, untilMs: number, work: () => Answer): Promise<Answer> {
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
    /** Lets a process work until it is killed or leaves. */
    connect(worker: TemporalWorker): () => void {
      workers.add(worker);
      worker.process.onKill(() => {
        workers.delete(worker);
        for (const [id, workflow] of workflows) {
          if (workflow.execution?.worker !== worker) continue;
          const isAtWork = workflow.execution.wakeUp === undefined;
          workflow.execution = undefined;
          if (!isAtWork || workflow.state !== "running") continue;
          noteMove(id);
          world.after(TASK_TIMEOUT_MS, () => wake(workflow));
        }
      });
      giveTasks();
      return () => workers.delete(worker);
    },

    /** The client of a process: as much of the SDK's as `beginWorkflow` uses. */
    client(process: Process): WorkflowTarget["client"] {
      let untilMs = Infinity;
      const client = {
        withDeadline(deadline: number, work: () => Promise<unknown>) {
          untilMs = deadline - EPOCH_MS;
          return work();
        },
        start: (_type: string, options: WorkflowStartOptions) =>
          ask(process, untilMs, () => start(options.args?.[0] as DeliverInput, options)),
        getHandle: (id: string) => ({
          result: (): Promise<RunResult | undefined> =>
            ask(process, untilMs, () => workflows.get(id)?.result),
        }),
      };
      // The SDK's types know everything else that a client can do.
      return client as unknown as WorkflowTarget["client"];
    },

    setAway(is: boolean): void {
      isAway = is;
      giveTasks();
    },

    /** Forgets a workflow, as one that was orphaned. */
    forget(id: string): void {
      const workflow = workflows.get(id);
      if (workflow !== undefined) workflow.state = "terminated";
      forgotten.add(id);
      workflows.delete(id);
      noteMove(id);
    },

    /** Ids of workflows that have not ended, oldest first. */
    runningIds: () =>
      [...workflows].filter(([, { state }]) => state === "running").map(([id]) => id),

    /** When a task of a run was taken from its worker, or the run was forgotten. */
    movesOf: (run: Run) => moves.get(deliverWorkflowId(run)) ?? [],

    /** Whether there is a workflow of a run that has not ended, or was one that is forgotten. */
    hadWorkflow(run: Run): boolean {
      const id = deliverWorkflowId(run);
      return workflows.get(id)?.state === "running" || forgotten.has(id);
    },

    /** How many attempts of a run it knows. */
    attemptsOf(run: Run): number {
      const workflow = workflows.get(deliverWorkflowId(run));
      if (workflow?.result !== undefined) return workflow.result.attempts.length;
      const made = workflow?.history.filter(({ isFailed, result }) => {
        const { kind } = (result ?? {}) as Partial<AttemptAnswer>;
        return !isFailed && (kind === "made" || kind === "recorded");
      });
      return (workflow?.input.made?.length ?? 0) + (made?.length ?? 0);
    },

    /** Whether any workflow is at work, and does not only sleep, but for deliveries that are left out. */
    isBusy: (isLeftOut: (deliveryId: string) => boolean) =>
      [...workflows.values()].some(
        (workflow) =>
          (ready.has(workflow) || isAtWork(workflow)) && !isLeftOut(workflow.input.deliveryId),
      ),
  };
}

function isAtWork({ state, execution }: Workflow): boolean {
  return state === "running" && execution !== undefined && execution.wakeUp === undefined;
}
