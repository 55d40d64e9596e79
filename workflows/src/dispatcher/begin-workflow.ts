import {
  type WorkflowClient,
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
} from "@temporalio/client";
import { retryInMs } from "../attempt/retry-schedule.ts";
import {
  DELIVER,
  type DeliverInput,
  deliverWorkflowId,
  type RunResult,
} from "../workflow/contract.ts";

/**
 * The limit of each try to start a workflow. The SDK begins further tries for ten seconds, or for up to 18 when
 * Temporal throttles.
 */
const BEGIN_WITHIN_MS = 10_000;

/**
 * The time limit of a workflow task, longer than it usually takes to make and record an attempt. The SDK renews a
 * longer task at 80 % of this time. A renewal costs one more action, and if the task fails after it, another worker
 * makes the attempt again. After a worker dies, its retries wait for this time.
 */
const TASK_TIMEOUT = "20 seconds";

/** Where and how workflows are begun. */
export type WorkflowTarget = {
  readonly client: Pick<WorkflowClient, "start" | "getHandle" | "withDeadline">;
  readonly taskQueue: string;
  /** The build id of this process's worker, if workers have versions. */
  readonly buildId?: string | undefined;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
};

/**
 * Begins the workflow of a run whose next attempt is due in `dueInMs`. Resolves when Temporal has acknowledged it.
 *
 * A workflow of the run that is still open is left as it is. A workflow that was closed from outside is replaced. If
 * the run's workflow completed, the database was restored since. If that workflow knows how the run ended, this returns
 * the workflow's result and begins nothing. Otherwise the run resumes after the attempts that the database or Temporal
 * knows, whichever knows more. ADR 0045
 */
export async function beginWorkflow(
  target: WorkflowTarget,
  input: DeliverInput,
  dueInMs: number,
): Promise<RunResult | undefined> {
  const { client, nowMs } = target;
  return client.withDeadline(nowMs() + BEGIN_WITHIN_MS, async () => {
    try {
      const { ALLOW_DUPLICATE_FAILED_ONLY } = WorkflowIdReusePolicy;
      await start(target, input, dueInMs, ALLOW_DUPLICATE_FAILED_ONLY);
      return undefined;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    const result: RunResult = await client.getHandle(deliverWorkflowId(input)).result();
    const { made = [] } = input;
    const isAhead = result.attempts.length > made.length;
    // An equal number of attempts is enough: if the last one was made twice, the database may know only that it failed.
    const isDelivered = result.end === "delivered" && result.attempts.length >= made.length;
    if (isDelivered || (isAhead && result.end === "failed")) return result;
    const next = isAhead ? { ...input, made: result.attempts } : input;
    const last = isAhead ? result.attempts.at(-1) : undefined;
    // If Temporal knows more attempts, the wait after the last of them counts too: `dueInMs` is the wait after an
    // earlier one.
    const leftMs = last ? retryInMs(result.attempts.length, last.endedAtMs, nowMs(), 0) : 0;
    await start(target, next, Math.max(dueInMs, leftMs), WorkflowIdReusePolicy.ALLOW_DUPLICATE);
    return undefined;
  });
}

async function start(
  { client, taskQueue, buildId }: WorkflowTarget,
  input: DeliverInput,
  dueInMs: number,
  workflowIdReusePolicy: WorkflowIdReusePolicy,
): Promise<void> {
  // Temporal keeps a delayed start as safely as a timer, and no worker has work with it until it is due. An eager start
  // goes to this process's worker, even if that worker's version is not the current one. So workers with versions get
  // no eager starts.
  const delay =
    dueInMs >= 1
      ? { startDelay: Math.round(dueInMs) }
      : { requestEagerStart: buildId === undefined };
  await client.start(DELIVER, {
    taskQueue,
    workflowId: deliverWorkflowId(input),
    workflowIdReusePolicy,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    workflowTaskTimeout: TASK_TIMEOUT,
    // Temporal's UI shows this summary before the workflow can answer the query for its progress.
    staticSummary: summaryOf(input),
    // If Temporal's fairness is on, an account's many retries do not delay those of other accounts.
    priority: { fairnessKey: String(input.accountNo) },
    args: [input],
    ...delay,
  });
}

function summaryOf({ made = [] }: DeliverInput): string {
  const last = made.at(-1);
  return last ? `attempt ${made.length}: ${last.outcome}` : "no attempt yet";
}
