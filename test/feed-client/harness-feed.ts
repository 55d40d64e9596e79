import { join } from "node:path";
import { ROOT } from "../../tools/release/published.ts";
import type { TestStack } from "../harness/stack.ts";

export const FEED_FOLDER = join(ROOT, "feed");

export const baseUrlOf = ({ gatewayPort }: Pick<TestStack, "gatewayPort">) =>
  `http://127.0.0.1:${gatewayPort}/api/v1`;

/** The options of the client for a stack and a key. With `since` it need not look for the feed's end. */
export const connectionTo = (stack: TestStack, apiKey: string) => ({
  ...{ apiKey, baseUrl: baseUrlOf(stack), since: "2000-01-01T00:00:00Z" },
});
