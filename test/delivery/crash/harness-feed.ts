import { setTimeout as wait } from "node:timers/promises";
import { type Activity, ActivityService, Order } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { requiredMicros } from "../../../server/src/common/timestamps.ts";
import { untilAcknowledged } from "./harness-repeat.ts";
import type { CrashStack } from "./harness-stack.ts";

const SINCE = timestampFromMs(Date.parse("2020-01-01T00:00:00Z"));
const LIMIT = 100;
const POLL_MS = 20;

/** Follows a feed as pollers must, until writing has ended and nothing is left. §4.4 */
export async function followFeed(stack: CrashStack, accountId: string, isWriting: () => boolean) {
  const activities = stack.client(ActivityService);
  const seen: Activity[] = [];
  let cursor: string | undefined;
  for (;;) {
    const mayEnd = !isWriting();
    const fixed = { accountId, order: Order.ASC, since: SINCE, limit: LIMIT };
    const request = cursor === undefined ? fixed : { ...fixed, cursor };
    const { answer: page } = await untilAcknowledged(() => activities.listActivities(request));
    seen.push(...page.activities);
    cursor = page.nextCursor ?? cursor;
    if (page.hasMore) continue;
    if (mayEnd) return seen;
    await wait(POLL_MS);
  }
}

/** Reads a whole feed, oldest first. */
export function readFeed(stack: CrashStack, accountId: string): Promise<Activity[]> {
  return followFeed(stack, accountId, () => false);
}

type ComparedRecord = Pick<Activity, "id" | "recordedAt" | "refundedAmountCents">;

export function lineOf({ id, recordedAt, refundedAmountCents }: ComparedRecord): string {
  return `${id} ${requiredMicros(recordedAt, "recorded_at")} ${refundedAmountCents}`;
}
