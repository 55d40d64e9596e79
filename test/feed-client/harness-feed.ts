import { join } from "node:path";
import type { Activity, Follower } from "../../feed/src/index.ts";
import { ROOT } from "../../tools/release/published.ts";
import type { TestStack } from "../harness/stack.ts";

export const FEED_FOLDER = join(ROOT, "feed");
export const FIRST = "2000-01-01T00:00:00Z";
/** The client waits a second between woken requests. */
const WAKE_EVERY_MS = 250;

export const baseUrlOf = (port: number) => `http://127.0.0.1:${port}/api/v1`;

/** The options of the client for a stack and a key. */
export const connectionTo = (stack: TestStack, apiKey: string) => ({
  ...{ apiKey, baseUrl: baseUrlOf(stack.gatewayPort), since: FIRST },
});

/** Reads records. Meanwhile wakes the follower as a webhook would. */
export async function take(follower: Follower, count: number): Promise<Activity[]> {
  const waking = setInterval(() => follower.wake(), WAKE_EVERY_MS);
  const taken: Activity[] = [];
  try {
    while (taken.length < count) {
      const { value, done } = await follower.next();
      if (done) throw new Error(`it ended after ${taken.length} records`);
      taken.push(value);
    }
    return taken;
  } finally {
    clearInterval(waking);
  }
}
