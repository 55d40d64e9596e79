import { ApiKeyService } from "@activity/proto";
import { afterAll, beforeAll, describe, it } from "vitest";
import { FeedError, follow, list, me } from "../../feed/src/index.ts";
import { createPlatformEvent, createReader, importDonations } from "../harness/builders.ts";
import { startTestStack, type TestStack } from "../harness/stack.ts";
import { connectionTo, countingFetch, take } from "./harness-feed.ts";

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.stop());

/** What a follower ends with; it is woken meanwhile. */
async function endOf(follower: ReturnType<typeof follow>): Promise<unknown> {
  return take(follower, 1).catch((error) => error);
}

describe("a follower of the running product", () => {
  it.concurrent("ends with invalid_api_key when its key is revoked", async ({ expect }) => {
    const { accountId, apiKey, apiKeyId } = await createReader(stack);
    const counted = countingFetch();
    const follower = follow({ ...connectionTo(stack, apiKey), fetch: counted });
    await createPlatformEvent(stack, accountId);
    await take(follower, 1);
    await stack.client(ApiKeyService).revokeApiKey({ accountId, apiKeyId });
    const error = await endOf(follower);
    expect(error).toBeInstanceOf(FeedError);
    expect(error).toMatchObject({
      code: "invalid_api_key",
      requestId: expect.stringMatching(/^req_/),
    });
    expect(`${error}`).not.toContain(apiKey);
  });

  it.concurrent("waits for the 60 seconds that a 429 says, and asks nothing meanwhile", async ({
    expect,
  }) => {
    const { apiKey } = await createReader(stack);
    const asking = Array.from({ length: 120 }, () => stack.http("/api/v1/me", { apiKey }));
    await Promise.all(asking);
    const stopped = new AbortController();
    const counted = countingFetch();
    const waits: [string, number][] = [];
    const follower = follow({
      ...{ ...connectionTo(stack, apiKey), fetch: counted, signal: stopped.signal },
      onWait: (reason, ms) => waits.push([reason, ms]),
    });
    const next = follower.next();
    await expect.poll(() => waits.length).toBe(1);
    follower.wake();
    expect(waits[0]?.[0]).toBe("rate_limit_exceeded");
    expect(waits[0]?.[1]).toBeGreaterThanOrEqual(60_000);
    stopped.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(counted.urls).toHaveLength(1);
  });

  it.concurrent("is told that its key ends within 14 days", async ({ expect }) => {
    const { apiKey, apiKeyId } = await createReader(stack);
    const inThreeDays = "expires_at = expires_at - 27 * 86400000000";
    await stack.database.query(`UPDATE api_key SET ${inThreeDays} WHERE id = ?`, [apiKeyId]);
    const days: number[] = [];
    const onKeyEnding = (left: number) => days.push(left);
    const stopped = new AbortController();
    const next = follow({
      ...{ ...connectionTo(stack, apiKey), onKeyEnding, signal: stopped.signal },
    }).next();
    await expect.poll(() => days).toEqual([3]);
    stopped.abort();
    await next;
  });
});

describe("list and me of the running product", () => {
  it.concurrent("list reads all pages of a type, and me whose key it is", async ({ expect }) => {
    const { accountId, apiKey } = await createReader(stack);
    await importDonations(stack, accountId, 250);
    await createPlatformEvent(stack, accountId);
    const options = { ...connectionTo(stack, apiKey), until: "2999-01-01T00:00:00Z" };
    const ids = new Set<string>();
    for await (const { id } of list({ ...options, type: "donation" })) ids.add(id);
    expect(ids.size).toBe(250);
    const { id, key } = await me(options);
    expect(id).toBe(accountId);
    expect(apiKey.startsWith(key.prefix)).toBe(true);
  });
});
