import { proxyLocalActivities, sleep } from "@temporalio/workflow";
import type { Activities } from "../activities/index.ts";
import type { DeliverInput } from "../contract.ts";
import { ATTEMPT_OPTIONS } from "./attempt-options.ts";
import { delayAfterMs } from "./retry-schedule.ts";

const { attemptDelivery } = proxyLocalActivities<Activities>(ATTEMPT_OPTIONS);

/** Runs one attempt sequence, or the rest of one: at most eight attempts in all. §6.4 */
export async function deliver(input: DeliverInput): Promise<void> {
  const { deliveryId, sequence, attempt: first = 1, waitMs = 0 } = input;
  let { failedLoads = 0 } = input;
  if (waitMs > 0) await sleep(waitMs);
  for (let attempt = first; ; ) {
    const answer = await attemptDelivery({ deliveryId, sequence, attempt, failedLoads });
    const { isRetried, retryInMs, askAgainInMs } = answer;
    if (askAgainInMs !== undefined) {
      failedLoads = answer.failedLoads ?? failedLoads;
      await sleep(askAgainInMs);
      continue;
    }
    const delayMs = isRetried ? (retryInMs ?? delayAfterMs(attempt)) : undefined;
    if (delayMs === undefined) return;
    await sleep(delayMs);
    attempt += 1;
    failedLoads = 0;
  }
}
