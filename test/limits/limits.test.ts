import net from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createApiKey, createReader } from "../harness/builders.ts";
import { expectError } from "../harness/expectations.ts";
import { type HttpAnswer, requestOf } from "../harness/http.ts";
import { startTestRedis, startTestRedisCluster } from "../harness/redis.ts";
import { startTestStack, type TestStack } from "../harness/stack.ts";

// All at once, for the longest mostly wait.
vi.setConfig({ maxConcurrency: 12 });

const WINDOW_MS = 60_000;
/** How long the hammering goes on at least: a full window and what follows it. */
const HAMMERING_MS = 75_000;
const PAUSE_MS = 40;

type Timed = { status: number; sentMs: number; answeredMs: number };

/** The different statuses among answers, in ascending order. */
const statusesOf = (answers: readonly Timed[]) =>
  [...new Set(answers.map(({ status }) => status))].sort((a, b) => a - b);

/** Neither over the limit, nor too late for a busy machine's storage. */
const isAdmitted = ({ status }: Timed) => status !== 429 && status !== 503;

/** Fails unless what came behind the first `limit` was refused for a window, and no other span held more. */
function expectLimit(limit: number, answers: readonly Timed[]): void {
  // On a slow machine fewer come before the first one leaves the window.
  const leavesMs = (answers[0]?.sentMs ?? 0) + WINDOW_MS;
  const inside = answers.slice(limit).filter(({ answeredMs }) => answeredMs < leavesMs);
  expect(inside.filter(isAdmitted)).toEqual([]);
  expect(statusesOf(inside)).toContain(429);
  expectNoSpanOver(limit, answers.filter(isAdmitted));
}

/** Fails when some 60-second span certainly held more admissions than the limit. */
function expectNoSpanOver(limit: number, admitted: readonly Timed[]): void {
  for (const { sentMs } of admitted) {
    const inside = admitted.filter(
      (other) => other.sentMs >= sentMs && other.answeredMs < sentMs + WINDOW_MS,
    );
    expect(inside.length).toBeLessThanOrEqual(limit);
  }
}

/** Opens a port that leads to a server, but passes on what it is sent only after a while. */
async function openSlowProxy(serverUrl: string, milliseconds: number) {
  const { hostname, port } = new URL(serverUrl);
  const ended = new AbortController();
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(port), hostname);
    const timer = setTimeout(() => client.pipe(upstream).pipe(client), milliseconds);
    ended.signal.addEventListener("abort", () => {
      clearTimeout(timer);
      client.destroy();
      upstream.destroy();
    });
    for (const socket of [client, upstream]) socket.on("error", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port: ownPort } = server.address() as net.AddressInfo;
  const close = () => {
    ended.abort();
    server.close();
  };
  return { url: `redis://127.0.0.1:${ownPort}`, close };
}

const LIMITERS = [
  ["the database", async () => undefined],
  ["Redis", startTestRedis],
  ["a Redis Cluster", startTestRedisCluster],
] as const;

describe.concurrent.each(LIMITERS)("§8 the limits, counted in %s", (_, startRedis) => {
  let redis: Awaited<ReturnType<typeof startRedis>>;
  let stack: TestStack;
  let ports: number[];
  beforeAll(async () => {
    redis = await startRedis();
    stack = await startTestStack({ redisUrl: redis?.url });
    const second = await stack.startInstance();
    ports = [stack.gatewayPort, second.gatewayPort];
  });
  afterAll(async () => {
    await stack.stop();
    await redis?.stop();
  });

  const portOf = (index: number) => ports[index % ports.length] ?? 0;

  /**
   * Sends requests one after another over both instances until the time is up, and until the burst is out of the
   * window and as many were admitted again.
   */
  async function hammer(
    send: (index: number) => Promise<HttpAnswer>,
    enough: number,
  ): Promise<Timed[]> {
    const answers: Timed[] = [];
    let admitted = 0;
    const endMs = performance.now() + HAMMERING_MS;
    for (let index = 0; performance.now() < endMs || admitted < enough; index++) {
      const sentMs = performance.now();
      const { status } = await send(index);
      const answer = { status, sentMs, answeredMs: performance.now() };
      answers.push(answer);
      if (isAdmitted(answer)) admitted += 1;
      // Quick while it fills the window, then slow enough not to be the load of the machine.
      if (index > 400) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
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
    }, 200);
    expect(statusesOf(answers.slice(0, 120))).toEqual([200]);
    expectLimit(120, answers);
  }, 180_000);

  it.concurrent("admit exactly 300 requests of an address in any 60 seconds, whatever they ask for", async () => {
    const headers = { "x-forwarded-for": "203.0.113.77" };
    const paths = ["/nothing", "/api/v1/me", "/api/v1/activity?x=y"];
    const answers = await hammer(
      (index) => requestOf(portOf(index), paths[index % paths.length] ?? "", { headers }),
      400,
    );
    expect(statusesOf(answers.slice(0, 300))).toEqual([401, 404]);
    expectLimit(300, answers);
  }, 180_000);

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
    for (let index = 0; index < 400 && statuses.at(-1) !== 429; index++) {
      const address = spellings[index % spellings.length] ?? "";
      const answer = await requestOf(portOf(index), "/", {
        headers: { "x-forwarded-for": address },
      });
      statuses.push(answer.status);
    }
    expect(statuses.at(-1)).toBe(429);
    const count = (wanted: number) => statuses.filter((status) => status === wanted).length;
    expect(count(404)).toBeLessThanOrEqual(300);
    // What a busy machine's storage answers too late may be counted or not.
    expect(count(404) + count(503)).toBeGreaterThanOrEqual(300);
    const other = await stack.http("/", { headers: { "x-forwarded-for": "2001:db8:8::1" } });
    expect(other.status).toBe(404);
  });
});

describe("§7 without its shared limiter", () => {
  it("an instance serves nobody yet while it has not met it, and everybody from then on", async () => {
    const redis = await startTestRedis();
    const slow = await openSlowProxy(redis.url, 500);
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
    const silent = await openSlowProxy(redis.url, 3_600_000);
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
