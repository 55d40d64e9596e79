import { setTimeout as wait } from "node:timers/promises";
import { AccountService, ApiKeyService, SessionService } from "@activity/proto";
import { clientBucket } from "@activity/runtime/client-bucket";
import { Permission } from "@activity/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { startDashboard } from "../dashboard/harness-dashboard.ts";
import { createAccount, createApiKey, createReader } from "../harness/builders.ts";
import { expectError, floodUntilNoneIsLate } from "../harness/expectations.ts";
import { requestOf } from "../harness/http.ts";
import { sendToRedis, startTestRedis } from "../harness/redis.ts";
import { startTestStack, type TestStack, useTestStack } from "../harness/stack.ts";
import { openDoor } from "../harness/tcp-door.ts";
import { useStarted } from "../harness/use-started.ts";
import { LIMITERS, useTwoInstances } from "./harness-limiters.ts";

type Door = Awaited<ReturnType<typeof openDoor>>;

const portOf = (url: string) => Number(new URL(url).port);

/** Opens a port that forwards to a Redis after a delay. */
async function openSlowDoor(redisUrl: string, milliseconds: number) {
  const door = await openDoor(portOf(redisUrl), () => wait(milliseconds, true, { ref: false }));
  return { url: `redis://127.0.0.1:${door.port}`, close: door.close };
}

const SINGLE = LIMITERS.slice(0, 2);
describe.each(SINGLE)("§8 the limits, counted in %s", (_, startRedis) => {
  const instances = useTwoInstances(startRedis);

  it("admit 120 of 200 requests that arrive at once", async () => {
    const flood = async () => {
      const { apiKey } = await createReader(instances.stack);
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          requestOf(instances.portOf(index), "/api/v1/me", {
            apiKey,
            headers: { "x-forwarded-for": `192.0.2.${index}` },
          }),
        ),
      );
      for (const answer of answers.filter(({ status }) => status === 429)) {
        expectError(answer, 429, "rate_limit_exceeded");
        expect(answer.headers.ratelimit).toMatch(/^"account";r=0;t=\d+$/);
      }
      return [answers.map(({ status }) => status).toSorted()];
    };
    const exactly120 = [...Array(120).fill(200), ...Array(80).fill(429)];
    expect(await floodUntilNoneIsLate(120, flood)).toEqual([exactly120]);
  });

  it("count no request of a blocked account, a revoked key or a refused client for the account", async () => {
    const { stack, portOf } = instances;
    const [accounts, apiKeys] = [stack.client(AccountService), stack.client(ApiKeyService)];
    const { accountId, apiKey, apiKeyId } = await createReader(stack);
    const { text: secondKey } = await createApiKey(stack, accountId);
    const ask = (apiKey: string, address: string) =>
      requestOf(portOf(0), "/api/v1/me", { apiKey, headers: { "x-forwarded-for": address } });
    await accounts.blockAccount({ accountId });
    expect((await ask(apiKey, "198.51.100.1")).status).toBe(403);
    await accounts.unblockAccount({ accountId });
    await apiKeys.revokeApiKey({ accountId, apiKeyId });
    for (let count = 1; count < 300; count++) {
      expect((await ask(apiKey, "198.51.100.1")).status).toBe(401);
    }
    expect((await ask(secondKey, "198.51.100.1")).status).toBe(429);
    expect((await ask(secondKey, "198.51.100.2")).headers.ratelimit).toMatch(/^"account";r=119;/);
  });
});

describe("ADR 0003: admissions from before the database's clock stepped back", () => {
  const stack = useTestStack();

  /** Counts a client's requests before and after the step. Returns the microseconds between their counted times. */
  async function microsAcross(stepSeconds: number) {
    const address = `198.51.100.${stepSeconds}`;
    const ask = () => stack.http("/nothing", { headers: { "x-forwarded-for": address } });
    const bucket = clientBucket(address);
    await ask();
    const step = "UPDATE rate_window SET last_at = last_at + ? WHERE bucket = ?";
    await stack.database.query(step, [stepSeconds * 1_000_000, bucket]);
    await ask();
    const ofWindow = "SELECT ring FROM rate_window WHERE bucket = ?";
    const times = await stack.database.value<Buffer>(ofWindow, [bucket]);
    return Number(times?.readBigUInt64BE(8)) - Number(times?.readBigUInt64BE(0));
  }

  it("count as made now if the step was over five seconds, else time never decreases", async () => {
    expect(await microsAcross(60)).toBe(0);
    expect(await microsAcross(4)).toBeGreaterThanOrEqual(4_000_000);
  });
});

describe("§7 without its shared limiter", () => {
  const redis = useStarted(startTestRedis);

  /** Runs `work` with a product at this Redis URL, then stops the product. */
  async function withProduct(redisUrl: string, work: (stack: TestStack) => Promise<unknown>) {
    const stack = await startTestStack({ env: { REDIS_URL: redisUrl } });
    await work(stack).finally(stack.stop);
  }

  it("an instance serves its first request once it has connected to the limiter", async () => {
    const slow = await openSlowDoor(redis.url, 500);
    await withProduct(slow.url, async ({ http }) => {
      expect((await http("/nothing")).status).toBe(404);
    });
    slow.close();
  });

  it("an instance starts even if the limiter never answers, and admits no uncounted request", async () => {
    const silent = await openSlowDoor(redis.url, 3_600_000);
    await withProduct(silent.url, async ({ http }) => {
      expectError(await http("/nothing"), 503, "temporarily_unavailable");
    });
    silent.close();
  });

  /** Runs a product that reaches this Redis through a door, and disturbs the door. The product must serve again. */
  async function expectHealed(
    disturb: (door: Door, me: () => Promise<number>) => Promise<unknown>,
  ) {
    const door = await openDoor(portOf(redis.url));
    await withProduct(`redis://127.0.0.1:${door.port}`, async (stack) => {
      const { apiKey } = await createReader(stack);
      // Uses one address, so that every counted poll uses the same two windows.
      const headers = { "x-forwarded-for": "192.0.2.1" };
      const me = async () => (await stack.http("/api/v1/me", { apiKey, headers })).status;
      expect(await me()).toBe(200);
      await disturb(door, me);
      await expect.poll(me, { timeout: 15_000 }).toBe(200);
    });
    door.close();
  }

  it("an instance replaces a connection to the limiter that went silent", () =>
    expectHealed(async (door, me) => {
      door.silenceOpen();
      expect(await me()).toBe(503);
    }));

  it("after a failover an instance counts in the new master, although the old one keeps its connections", async () => {
    const next = await startTestRedis();
    await expectHealed((door) => {
      door.leadNextTo(portOf(next.url));
      return sendToRedis(redis.url, "REPLICAOF", "127.0.0.1", portOf(next.url));
    });
    expect(await sendToRedis(next.url, "DBSIZE")).toBe(2);
    await sendToRedis(redis.url, "REPLICAOF", "NO", "ONE");
    await next.stop();
  });

  it("a credential and a session that the core has not seen before still work, ADR 0037", async () => {
    const dashboard = await startDashboard({ REDIS_URL: redis.url });
    onTestFinished(dashboard.stop);
    const { stack } = dashboard;
    const accountId = await createAccount(stack);
    const browser = await dashboard.signIn(accountId);
    await redis.kill();
    onTestFinished(redis.restart);
    expect((await browser.call(SessionService.method.getSession)).status).toBe(200);
    const authorization = `Bearer ${await stack.credential(Permission.AccountManage)}`;
    const accounts = stack.client(AccountService, { authorization });
    expect((await accounts.verifyAccount({ accountId })).account?.id).toBe(accountId);
  });

  it("the gateway answers temporarily_unavailable to everything, and serves again without a restart", () =>
    withProduct(redis.url, async (stack) => {
      const { apiKey } = await createReader(stack);
      const me = (method = "GET") => stack.http("/api/v1/me", { apiKey, method });
      expect((await me()).status).toBe(200);
      await redis.kill();
      for (const path of ["/api/v1/me", "/api/v1/activity", "/nothing"]) {
        expectError(await stack.http(path, { apiKey }), 503, "temporarily_unavailable");
      }
      expectError(await me("POST"), 503, "temporarily_unavailable");
      await redis.restart();
      await expect.poll(async () => (await me()).status, { timeout: 15_000 }).toBe(200);
    }));
});
