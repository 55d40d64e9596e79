import type { ClaimedRetry, DispatchService } from "@activity/proto";
import type { Log } from "@activity/runtime/log";
import { LOST_RECORD_DETAIL } from "@activity/runtime/lost-record";
import type { Timing } from "@activity/runtime/timing";
import { durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { outcomeFromProto } from "../attempt/outcome.ts";
import type { Recorder } from "../attempt/recorder.ts";
import { waitLeftMs } from "../attempt/retry-schedule.ts";
import { runFromProto, runToProto } from "../attempt/run-key.ts";
import type { Run } from "../common/run.ts";
import type { DeliverInput, MadeAttempt } from "../workflow/contract.ts";
import { beginWorkflow, type WorkflowTarget } from "./begin-workflow.ts";
import { CLAIM_WAIT, claimOptions } from "./claim-options.ts";
import { type Poller, startPoller } from "./poller.ts";

/** More at once make Temporal no faster, and late for everything else that is asked of it. */
const MAX_CLAIM = 32;
/** In flight at an endpoint while each attempt is one of a workflow, which costs far more than a POST. */
const ENDPOINT_LIMIT = 8;
const ANSWER_WITHIN_MS = 35_000;

type WorkflowStarter = WorkflowTarget & {
  readonly dispatch: Client<typeof DispatchService>;
  readonly recorder: Recorder;
  readonly timing: Timing;
  readonly log: Log;
};

/**
 * Begins the workflows of runs that go on with a retry; each leaves the outbox once it is acknowledged. What could not
 * leave is kept, and leaves before more is claimed: else its lease would have to end, and it would be begun again.
 */
export function startRetries(starter: WorkflowStarter): Poller {
  const { dispatch, log, timing } = starter;
  let acknowledged: Run[] = [];
  return startPoller(
    "begin of retries",
    async (signal) => {
      await completeAcknowledged();
      const claim = { limit: MAX_CLAIM, wait: CLAIM_WAIT };
      const { retries } = await dispatch.claimRetries(claim, claimOptions(signal));
      const begun = await Promise.allSettled(
        retries.map(async (retry) => {
          const run = runFromProto(retry.run);
          const made = madeOf(retry);
          await beginOrRecord(starter, { ...run, made }, dueInMs(retry, made, starter.nowMs()));
          acknowledged.push(run);
        }),
      );
      await completeAcknowledged();
      // What was not acknowledged is claimed again once its lease ends.
      throwFirst(begun);
    },
    log,
    timing,
  );

  async function completeAcknowledged(): Promise<void> {
    if (acknowledged.length === 0) return;
    const runs = acknowledged.map(runToProto);
    await dispatch.completeRetries({ runs }, { timeoutMs: ANSWER_WITHIN_MS });
    acknowledged = [];
  }
}

/**
 * Begins a workflow for every run, from its first attempt on; its entry leaves the outbox with the record of that
 * attempt, so that what is leased is what is in flight here too.
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

/** Begins the workflow of a run, or records how the run ended that Temporal knows to have ended. */
async function beginOrRecord(
  starter: WorkflowStarter,
  input: DeliverInput,
  dueInMs: number,
): Promise<void> {
  const known = await beginWorkflow(starter, input, dueInMs);
  const last = known?.attempts.at(-1);
  if (known === undefined || last === undefined) return;
  const { accountNo, deliveryId, run } = input;
  const key = { accountNo, deliveryId, run, attempt: known.attempts.length };
  const { outcome, endedAtMs } = last;
  const unknown = { durationMs: 0, status: undefined, bodyStart: undefined };
  const attempt = { ...unknown, outcome, startedAtMs: endedAtMs, detail: LOST_RECORD_DETAIL };
  await starter.recorder.record(key, attempt, known.attempts.slice(0, -1));
  starter.log.warn("a run that had ended before the database was restored is recorded", key);
}

/** Not before the wait behind the last attempt is over, whatever the database's clock says. §6.4 */
function dueInMs({ dueIn }: ClaimedRetry, made: readonly MadeAttempt[], nowMs: number): number {
  const toldMs = dueIn ? durationMs(dueIn) : 0;
  const last = made.at(-1);
  return last ? Math.max(toldMs, waitLeftMs(made.length, last.endedAtMs, nowMs)) : toldMs;
}

function madeOf({ attempts }: ClaimedRetry): MadeAttempt[] {
  return attempts.flatMap(({ outcome, endedAt }) =>
    endedAt ? [{ outcome: outcomeFromProto(outcome), endedAtMs: timestampMs(endedAt) }] : [],
  );
}

function throwFirst(settled: readonly PromiseSettledResult<unknown>[]): void {
  for (const one of settled) if (one.status === "rejected") throw one.reason;
}
