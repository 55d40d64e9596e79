import { setTimeout as wait } from "node:timers/promises";
import { type Activity, ActivityService, Order } from "@activity/proto";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { untilAcknowledged } from "../../delivery/crash/harness-repeat.ts";
import type { CrashStack } from "../../delivery/crash/harness-stack.ts";

const SINCE = timestampFromMs(Date.parse("2020-01-01T00:00:00Z"));
const LIMIT = 100;
const POLL_MS = 20;

/** Follows a feed as pollers must, until writing has ended and nothing is left. §4.4 */
export async function followFeed(
  stack: CrashStack,
  accountId: string,
  isWriting: () => boolean,
): Promise<Activity[]> {
  const activities = stack.client(ActivityService);
  const seen: Activity[] = [];
  let cursor: { cursor?: string } = {};
  for (;;) {
    const mayEnd = !isWriting();
    const request = { accountId, order: Order.ASC, since: SINCE, limit: LIMIT, ...cursor };
    const { answer: page } = await untilAcknowledged(() => activities.listActivities(request));
    seen.push(...page.activities);
    if (page.nextCursor !== undefined) cursor = { cursor: page.nextCursor };
    if (page.hasMore) continue;
    if (mayEnd) return seen;
    await wait(POLL_MS);
  }
}

/** Reads a whole feed, oldest first. */
export function readFeed(stack: CrashStack, accountId: string): Promise<Activity[]> {
  return followFeed(stack, accountId, () => false);
}

/** The fields of a record that tests compare. */
export type ComparedRecord = Pick<Activity, "id" | "recordedAt" | "refundedAmountCents">;

/** Formats a record of the feed: its id, its recorded_at and its refunded amount. */
export function lineOf({ id, recordedAt, refundedAmountCents }: ComparedRecord): string {
  return `${id} ${microsOf(recordedAt)} ${refundedAmountCents}`;
}

/** Converts a time to microseconds since 1970; -1 for none. */
export function microsOf(time: Timestamp | undefined): bigint {
  return time === undefined ? -1n : time.seconds * 1_000_000n + BigInt(time.nanos) / 1_000n;
}
