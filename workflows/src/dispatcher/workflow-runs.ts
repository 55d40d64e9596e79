import type { ClaimedRetry, DispatchService } from "@activity/proto";
import type { Log } from "@activity/runtime/log";
import { LOST_RECORD_DETAIL } from "@activity/runtime/lost-record";
import type { Timing } from "@activity/runtime/timing";
import { durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { outcomeFromProto } from "../attempt/outcome.ts";
import type { Recorder } from "../attempt/recorder.ts";
import { retryInMs } from "../attempt/retry-schedule.ts";
import { runFromProto, runToProto } from "../attempt/run-key.ts";
import type { Run } from "../common/run.ts";
import { AttemptOutcome } from "../http/attempt-outcome.ts";
import type { DeliverInput, MadeAttempt } from "../workflow/contract.ts";
import { beginWorkflow, type WorkflowTarget } from "./begin-workflow.ts";
import { CLAIM_WAIT, claimOptions } from "./claim-options.ts";
import { type Poller, startPoller } from "./poller.ts";

/**
 * The most workflows that are started at once. More would be no faster, and would delay all other calls to Temporal.
 */
const MAX_CLAIM = 32;
/** The most attempts in flight at one endpoint when every run is a workflow. A workflow costs far more than a POST. */
const ENDPOINT_LIMIT = 8;
/** The limit of one call. A stop may wait for two such calls, and must end within 26 seconds. */
const ANSWER_WITHIN_MS = 5_000;

type WorkflowStarter = WorkflowTarget & {
  readonly dispatch: Client<typeof DispatchService>;
  readonly recorder: Recorder;
  readonly timing: Timing;
  readonly log: Log;
};

/**
 * Begins the workflows of runs that need a retry. An entry leaves the outbox once Temporal has acknowledged its
 * workflow. If the core cannot delete the entry, this tries again before the next claim: once the entry's lease ends,
 * the workflow would be begun again.
 */
export function startRetries(starter: WorkflowStarter): Poller {
  const { dispatch, log, timing } = starter;
  let acknowledged: Run[] = [];
  return startPoller(
    "begin of retries",
    async (signal, isDraining) => {
      await completeAcknowledged();
      if (isDraining()) return;
      const claim = { limit: MAX_CLAIM, wait: CLAIM_WAIT };
      const { retries } = await dispatch.claimRetries(claim, claimOptions(signal));
      const begun = await Promise.allSettled(
        retries.map(async (retry) => {
          const run = runFromProto(retry.run);
          const made = madeOf(retry);
          const dueMs = dueInMs(retry, made, starter.nowMs());
          if (await beginOrRecord(starter, { ...run, made }, dueMs)) acknowledged.push(run);
        }),
      );
      await completeAcknowledged();
      // If a start failed, this step fails. The run is claimed again once its lease ends.
      throwFirst(begun);
    },
    log,
    timing,
  );

  async function completeAcknowledged(): Promise<void> {
    if (acknowledged.length === 0) return;
    const runs = acknowledged;
    acknowledged = [];
    const isComplete = await complete(runs);
    if (isComplete) return;
    // If one shard is away, the whole call fails. So each run now gets its own call, which completes the runs of the
    // other shards. Claims continue: the next step tries the remaining runs again.
    const areComplete = await Promise.all(runs.map((run) => complete([run])));
    acknowledged.push(...runs.filter((_, place) => !areComplete[place]));
  }

  function complete(runs: readonly Run[]): Promise<boolean> {
    return dispatch
      .completeRetries({ runs: runs.map(runToProto) }, { timeoutMs: ANSWER_WITHIN_MS })
      .then(
        () => true,
        () => false,
      );
  }
}

/**
 * Begins a workflow for every run, from its first attempt on. The core deletes the outbox entry when it records that
 * attempt. A lease therefore counts as an attempt in flight here too.
 */
export function startWholeRuns(starter: WorkflowStarter): Poller {
  const { dispatch, log, timing } = starter;
  return startPoller(
    "begin of runs",
    async (signal) => {
      const claim = {
        limit: MAX_CLAIM,
        endpointLimit: ENDPOINT_LIMIT,
        idle: false,
        wait: CLAIM_WAIT,
      };
      const { attempts } = await dispatch.claimAttempts(claim, claimOptions(signal));
      const begun = await Promise.allSettled(
        attempts.map(({ run }) => beginOrRecord(starter, runFromProto(run), 0)),
      );
      throwFirst(begun);
    },
    log,
    timing,
  );
}

/**
 * Begins the workflow of a run, and returns true. If Temporal knows that the run has ended, this returns false, and the
 * recorder records that end, which removes the run's entry from the outbox.
 */
async function beginOrRecord(
  starter: WorkflowStarter,
  input: DeliverInput,
  dueInMs: number,
): Promise<boolean> {
  const result = await beginWorkflow(starter, input, dueInMs);
  const last = result?.attempts.at(-1);
  if (result === undefined || last === undefined) return true;
  const { accountNo, deliveryId, run } = input;
  const key = { accountNo, deliveryId, run, attempt: result.attempts.length };
  const { outcome, endedAtMs } = last;
  const nothing = { status: undefined, headers: undefined, bodyStart: undefined };
  const unknown = { durationMs: 0, ...nothing };
  const attempt = { ...unknown, outcome, startedAtMs: endedAtMs, detail: LOST_RECORD_DETAIL };
  // The result is not awaited: while the core is away the recorder keeps the attempt, and the claims must be able to
  // stop.
  starter.recorder.record(key, attempt, result.attempts.slice(0, -1)).then(
    () => starter.log.warn("a run whose end only Temporal knew is recorded", key),
    () => {},
  );
  return false;
}

/** Returns the milliseconds until the retry is due. After an attempt, `retryInMs` limits the stored wait. §6.4 */
function dueInMs({ dueIn }: ClaimedRetry, made: readonly MadeAttempt[], nowMs: number): number {
  const claimedMs = dueIn ? durationMs(dueIn) : 0;
  const last = made.at(-1);
  return last ? retryInMs(made.length, last.endedAtMs, nowMs, claimedMs) : claimedMs;
}

/** A newer version's outcome becomes a network error. It was retried too, because the run continues. */
function madeOf({ attempts }: ClaimedRetry): MadeAttempt[] {
  return attempts.flatMap(({ outcome: recorded, endedAt }) => {
    const outcome = outcomeFromProto(recorded) ?? AttemptOutcome.NetworkError;
    return endedAt ? [{ outcome, endedAtMs: timestampMs(endedAt) }] : [];
  });
}

function throwFirst(settled: readonly PromiseSettledResult<unknown>[]): void {
  for (const one of settled) if (one.status === "rejected") throw one.reason;
}
