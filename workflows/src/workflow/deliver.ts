import { defineQuery, proxyLocalActivities, setHandler, sleep } from "@temporalio/workflow";
import { wallClockMs } from "../common/clock.ts";
import {
  type Activities,
  type DeliverInput,
  PROGRESS,
  type Progress,
  type RunResult,
} from "./contract.ts";
import { createRunStory } from "./run-story.ts";

/** Temporal never retries these activities. The workflow waits on timers instead, which hold no slot of a worker. */
const activities = proxyLocalActivities<Activities>({
  startToCloseTimeout: "20 seconds",
  retry: { maximumAttempts: 1 },
});

/** Makes the remaining attempts of a run on Temporal's timers. */
export async function deliver(input: DeliverInput): Promise<RunResult> {
  const { attempt, record } = activities;
  const story = createRunStory(input, {
    ...{ attempt, record, sleep: (milliseconds: number) => sleep(milliseconds) },
    ...{ nowMs: wallClockMs, random: () => Math.random() },
  });
  setHandler(defineQuery<Progress>(PROGRESS), story.progress);
  return story.run();
}
