import { setTimeout as wait } from "node:timers/promises";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "@activity/proto/infrastructure";
import { createClient } from "@connectrpc/connect";
import { describe, expect, it, vi } from "vitest";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { transportTo } from "../harness/clients.ts";
import { openDatabaseProxy } from "../harness/database-proxy.ts";
import { startTestRedis } from "../harness/redis.ts";
import { useTestStack } from "../harness/stack.ts";
import { usePrograms } from "../start/harness-program.ts";
import { healthAt } from "./harness-instances.ts";
import { PARTS, type PartName, useParts, variablesOf } from "./harness-parts.ts";

const stack = useTestStack();
const startProgram = usePrograms();
const startPart = useParts();

/**
 * `restarts.test.ts` ends cores, gateways and deliveries, and `test/start/serve.test.ts` ends all in one process.
 * `gateway/src/app.test.ts` tests what a gateway that drains answers.
 */
describe("a process that gets SIGTERM, ADR 0043", () => {
  const start = async (name: PartName) =>
    startPart(name, { ...(await variablesOf(name, stack)), DRAIN_SECONDS: "60" });

  it("drains until a second signal, which ends it at once with 1", async () => {
    const gateway = await start("gateway");
    const ended = gateway.stop();
    // Repeats the signal: two within a second count as one, because npm also forwards the terminal's.
    const again = setInterval(() => process.kill(gateway.pid, "SIGINT"), 100);
    expect(await ended.finally(() => clearInterval(again))).toBe(1);
  });

  it("as a core says NOT_SERVING by the gRPC health protocol, and ends every watch", async () => {
    const core = await start("core");
    const health = createClient(Health, transportTo(`http://127.0.0.1:${core.port}`, {}));
    const statuses: Status[] = [];
    const watching = (async () => {
      for await (const { status } of health.watch({})) statuses.push(status);
    })();
    await expect.poll(() => statuses).toEqual([Status.SERVING]);
    process.kill(core.pid, "SIGTERM");
    await watching;
    expect(statuses).toEqual([Status.SERVING, Status.NOT_SERVING]);
    expect((await health.check({})).status).toBe(Status.NOT_SERVING);
  });

  it("as a core keeps a watch that begins during the drain, and ends it when it stops", async () => {
    const core = await stack.startInstance();
    core.drain();
    const health = createClient(Health, transportTo(`http://127.0.0.1:${core.corePort}`, {}));
    const statuses: Status[] = [];
    const watching = (async () => {
      for await (const { status } of health.watch({})) statuses.push(status);
    })();
    await expect.poll(() => statuses).toEqual([Status.NOT_SERVING]);
    // If the watch ended now, its client would begin another one at once.
    expect(await Promise.race([watching, wait(1_000, "open")])).toBe("open");
    const stopped = core.stop();
    // If the core cut the watch, `watching` would reject.
    await watching;
    await stopped;
  });
});

describe("a process by itself", () => {
  const run = async (name: PartName, env: Record<string, string>) =>
    startProgram(PARTS[name].program, { ...(await variablesOf(name, stack)), ...env });
  /** Checks that a process ends with 1 and says these texts. */
  async function expectEnd(name: PartName, env: Record<string, string>, ...texts: string[]) {
    const { ended, output } = await run(name, env);
    expect(await ended).toBe(1);
    for (const text of texts) expect(output()).toContain(text);
    expect(output()).not.toContain("geheim");
  }

  it.each([
    ["core", "core listens", "activity_outbox_entries", "activity_attempts_in_flight"],
    [
      "gateway",
      "gateway listens",
      "activity_gateway_request_duration_seconds",
      "activity_outbox_entries",
    ],
    ["deliveries", "retries wait", "activity_attempts_in_flight", "activity_outbox_entries"],
  ] as const)("%s serves its own metrics at METRICS_PORT", async (name, started, has, hasNot) => {
    const port = await findFreePort();
    const { untilSaid } = await run(name, { METRICS_PORT: `${port}` });
    const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
    // Waits, because metric families appear only when their part starts. By then, families of other parts would have
    // appeared too.
    await untilSaid(started);
    const scraped = await vi.waitUntil(
      async () => {
        const text = await (await get("/metrics")).text();
        return text.includes(`# TYPE ${has} `) && text;
      },
      { timeout: 30_000, interval: 100 },
    );
    expect(scraped).toContain("nodejs_eventloop_lag_p99_seconds ");
    expect(scraped).not.toContain(hasNot);
    expect((await get("/")).status).toBe(404);
  });

  it.each(["core", "gateway", "deliveries"] as const)(
    "%s refuses an invalid METRICS_PORT by name, and ends when the port is taken",
    async (name) => {
      await expectEnd(name, { METRICS_PORT: "geheim" }, "METRICS_PORT must be a whole number");
      await expectEnd(name, { METRICS_PORT: `${stack.corePort}` }, "EADDRINUSE");
    },
  );

  it("with all parts is ready at its first check, and not while its database is away, even if Redis counts, ADR 0043", async () => {
    const [proxy, redis] = [await openDatabaseProxy(stack.database.url), await startTestRedis()];
    const port = await findFreePort();
    const { output } = startProgram("tools/serve/serve.ts", {
      ...{ ...(await variablesOf("serve", stack)), HEALTH_PORT: `${port}` },
      ...{ DATABASE_URL: proxy.url, REDIS_URL: redis.url },
    });
    const ready = () => healthAt(port, "/ready");
    await expect.poll(ready, { timeout: 90_000 }).toEqual([200, "serving"]);
    expect(output()).not.toContain("the core is unavailable");
    await proxy.stop();
    await expect.poll(ready).toEqual([503, "unavailable"]);
    await redis.stop();
  }, 120_000);

  it("the core ends when its port for browsers is taken, though its other port is already open", () =>
    expectEnd(
      "core",
      { DASHBOARD_URL: "http://localhost:4180", DASHBOARD_PORT: `${stack.corePort}` },
      ...['"message":"core listens"', "EADDRINUSE"],
    ));
});
