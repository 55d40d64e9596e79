import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createReader } from "../harness/builders.ts";
import { expectError } from "../harness/expectations.ts";
import { requestOf } from "../harness/http.ts";
import { startTestRedis } from "../harness/redis.ts";
import { startTestStack } from "../harness/stack.ts";
import { openDoor } from "../harness/tcp-door.ts";
import { LIMITERS, useTwoInstances } from "./harness-limiters.ts";

/** A port that leads to a Redis only after a while. */
async function openSlowDoor(redisUrl: string, milliseconds: number) {
  const port = Number(new URL(redisUrl).port);
  const door = await openDoor(port, () => wait(milliseconds, true, { ref: false }));
  return { url: `redis://127.0.0.1:${door.port}`, close: door.close };
}

describe.each(LIMITERS)("§8 the limits, counted in %s", (_, startRedis) => {
  const { stack, portOf } = useTwoInstances(startRedis);

  it("count requests that arrive at once no less", async () => {
    const { apiKey } = await createReader(stack());
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        requestOf(portOf(index), "/api/v1/me", {
          apiKey,
          headers: { "x-forwarded-for": `192.0.2.${index}` },
        }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(120);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(80);
    for (const answer of refused) {
      expectError(answer, 429, "rate_limit_exceeded");
      expect(answer.headers.ratelimit).toMatch(/^"account";r=0;t=\d+$/);
    }
  });
});

describe("§7 without its shared limiter", () => {
  it("an instance serves nobody yet while it has not met it, and everybody from then on", async () => {
    const redis = await startTestRedis();
    const slow = await openSlowDoor(redis.url, 500);
    const stack = await startTestStack({ redisUrl: slow.url });
    try {
      expect((await stack.http("/nothing")).status).toBe(404);
    } finally {
      await stack.stop();
      slow.close();
      await redis.stop();
    }
  });

  it("an instance starts all the same when it never answers, and admits nobody uncounted", async () => {
    const redis = await startTestRedis();
    const silent = await openSlowDoor(redis.url, 3_600_000);
    const stack = await startTestStack({ redisUrl: silent.url });
    try {
      expectError(await stack.http("/nothing"), 503, "temporarily_unavailable");
    } finally {
      await stack.stop();
      silent.close();
      await redis.stop();
    }
  });

  it("the gateway answers temporarily_unavailable to everything, and serves again without a restart", async () => {
    const redis = await startTestRedis();
    const stack = await startTestStack({ redisUrl: redis.url });
    try {
      const { apiKey } = await createReader(stack);
      expect((await stack.http("/api/v1/me", { apiKey })).status).toBe(200);
      await redis.kill();
      for (const path of ["/api/v1/me", "/api/v1/activity", "/nothing"]) {
        expectError(await stack.http(path, { apiKey }), 503, "temporarily_unavailable");
      }
      expectError(
        await stack.http("/api/v1/me", { method: "POST" }),
        503,
        "temporarily_unavailable",
      );
      await redis.restart();
      await expect
        .poll(async () => (await stack.http("/api/v1/me", { apiKey })).status, { timeout: 15_000 })
        .toBe(200);
    } finally {
      await stack.stop();
      await redis.stop();
    }
  });
});
