import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import {
  ParentClosePolicy,
  proxyLocalActivities,
  startChild,
  WorkflowIdReusePolicy,
} from "@temporalio/workflow";
import type { Activities, RetriedSequence } from "../activities/index.ts";
import { type DeliverTogetherInput, deliverWorkflowId } from "../contract.ts";
import { ATTEMPT_OPTIONS } from "./attempt-options.ts";
import { deliver } from "./deliver.ts";
import { delayAfterMs } from "./retry-schedule.ts";

/** Thousands that fail at once wait here for their turn with the engine, which takes a few hundred a second. */
const { attemptTogether } = proxyLocalActivities<Activities>({
  ...ATTEMPT_OPTIONS,
  startToCloseTimeout: "5 minutes",
});

/**
 * Makes the first attempts of deliveries that wait at the same moment; each that must be tried again goes on
 * in a workflow of its own: a workflow's price is paid once for all that succeed at once. The activity starts
 * those itself, because a child costs the engine three times as much; it leaves over what it could not start.
 */
export async function deliverTogether({ sequences }: DeliverTogetherInput): Promise<void> {
  const retried = await attemptTogether(sequences);
  await Promise.all(retried.map(handOver));
}

async function handOver({ deliveryId, sequence, sinceEndMs }: RetriedSequence): Promise<void> {
  // The first attempt is never the last.
  const waitMs = Math.max(1, (delayAfterMs(1) ?? 0) - sinceEndMs);
  try {
    await startChild(deliver, {
      workflowId: deliverWorkflowId({ deliveryId, sequence }),
      args: [{ deliveryId, sequence, attempt: 2, waitMs }],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      parentClosePolicy: ParentClosePolicy.ABANDON,
    });
  } catch (error) {
    // Another start of the same sequence was first: it goes on there.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
