import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningRedis } from "../../tools/stack/redis.ts";
import { createApiKey, createReader } from "../harness/builders.ts";
import { expectError } from "../harness/expectations.ts";
import { type HttpAnswer, requestOf } from "../harness/http.ts";
import { startTestRedis } from "../harness/redis.ts";
import { startTestStack, type TestStack } from "../harness/stack.ts";

const WINDOW_MS = 60_000;
/** How long the hammering goes on: a full window and what follows it. */
const HAMMERING_MS = 75_000;

type Timed = { status: number; sentMs: number; answeredMs: number };

/** The different statuses among answers, in ascending order. */
const statusesOf = (answers: readonly Timed[]) =>
  [...new Set(answers.map(({ status }) => status))].sort((a, b) => a - b);

/** Fails when some 60-second span certainly held more admissions than the limit. */
function expectNoSpanOver(limit: number, admitted: readonly Timed[]): void {
  for (const { sentMs } of admitted) {
    const inside = admitted.filter(
      (other) => other.sentMs >= sentMs && other.answeredMs < sentMs + WINDOW_MS,
    );
    expect(inside.length).toBeLessThanOrEqual(limit);
  }
}

describe.each(["database", "redis"] as const)("§8 the limits, counted in the %s", (kind) => {
  let redis: RunningRedis | undefined;
  let stack: TestStack;
  let ports: number[];
  beforeAll(async () => {
    if (kind === "redis") redis = await startTestRedis();
    stack = await startTestStack({ redisUrl: redis?.url });
    const second = await stack.startInstance();
    ports = [stack.gatewayPort, second.gatewayPort];
  });
  afterAll(async () => {
    await stack.stop();
    await redis?.stop();
  });

  const portOf = (index: number) => ports[index % ports.length] ?? 0;

  /** Sends requests one after another over both instances until the time is up. */
  async function hammer(
    send: (index: number) => Promise<HttpAnswer>,
    pauseMs: number,
  ): Promise<Timed[]> {
    const answers: Timed[] = [];
    const endMs = performance.now() + HAMMERING_MS;
    for (let index = 0; performance.now() < endMs; index++) {
      const sentMs = performance.now();
      const { status } = await send(index);
      answers.push({ status, sentMs, answeredMs: performance.now() });
      // Quick while it fills the window, then slow enough not to be the load of the machine.
      if (index > 400) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    return answers;
  }

  it.concurrent("admit exactly 120 requests of an account in any 60 seconds, over two instances and two keys", async () => {
    const { accountId, apiKey } = await createReader(stack);
    const { text: secondKey } = await createApiKey(stack, accountId);
    const answers = await hammer((index) => {
      const headers = { "x-forwarded-for": `198.51.100.${index % 200}` };
      return requestOf(portOf(index), "/api/v1/me", {
        headers,
        apiKey: (index >> 1) % 2 ? apiKey : secondKey,
      });
    }, 40);
    const admitted = answers.filter(({ status }) => status === 200);
    expect(statusesOf(answers.slice(0, 120))).toEqual([200]);
    expect(statusesOf(answers.slice(120, 200))).toEqual([429]);
    expectNoSpanOver(120, admitted);
    // The burst is out of the window a minute later, and as many are admitted again.
    expect(admitted.length).toBeGreaterThan(200);
  }, 120_000);

  it.concurrent("admit exactly 300 requests of an address in any 60 seconds, whatever they ask for", async () => {
    const headers = { "x-forwarded-for": "203.0.113.77" };
    const paths = ["/nothing", "/api/v1/me", "/api/v1/activity?x=y"];
    const answers = await hammer(
      (index) => requestOf(portOf(index), paths[index % paths.length] ?? "", { headers }),
      40,
    );
    const admitted = answers.filter(({ status }) => status !== 429);
    expect(statusesOf(answers.slice(0, 300))).toEqual([401, 404]);
    expect(statusesOf(answers.slice(300, 380))).toEqual([429]);
    expectNoSpanOver(300, admitted);
    expect(admitted.length).toBeGreaterThan(400);
  }, 120_000);

  it.concurrent("count requests that arrive at once no less", async () => {
    const { apiKey } = await createReader(stack);
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

  it.concurrent("count an IPv6 client by its /64, and an IPv4-mapped one as its IPv4", async () => {
    const spellings = ["2001:db8:7::1", "2001:db8:7:0:ffff::2", "[2001:db8:7::3]:443"];
    const statuses: number[] = [];
    for (let index = 0; index < 301; index++) {
      const address = spellings[index % spellings.length] ?? "";
      const answer = await requestOf(portOf(index), "/", {
        headers: { "x-forwarded-for": address },
      });
      statuses.push(answer.status);
    }
    expect(statuses.slice(0, 300).every((status) => status === 404)).toBe(true);
    expect(statuses[300]).toBe(429);
    const other = await stack.http("/", { headers: { "x-forwarded-for": "2001:db8:8::1" } });
    expect(other.status).toBe(404);
  });
});

describe("§7 without its shared limiter", () => {
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
