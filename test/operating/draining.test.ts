import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "@activity/proto/infrastructure";
import { Permission } from "@activity/server";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createReader } from "../harness/builders.ts";
import { requestOf } from "../harness/http.ts";
import { startTestStack, type TestStack } from "../harness/stack.ts";
import { createInstance, type ProcessInstance } from "./harness-instances.ts";

const CORE = "server/src/main.ts";
const GATEWAY = "gateway/src/main.ts";
const DELIVERIES = "workflows/src/main.ts";
const SERVE = "tools/serve/serve.ts";
const KEYS = { CURSOR_KEYS: "ab".repeat(32), SECRET_KEYS: "cd".repeat(32) };
const NO_TEMPORAL = { TEMPORAL_ADDRESS: "127.0.0.1:1" };

let stack: TestStack;
const started: ProcessInstance[] = [];
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(async () => {
  for (const one of started) one.signal("SIGKILL");
  await stack.stop();
});

const CREATE: Record<string, (drain: string) => Promise<ProcessInstance>> = {
  [CORE]: (drain) =>
    createInstance(CORE, "CORE_PORT", {
      ...{ ...KEYS, DATABASE_URL: stack.database.url, DRAIN_SECONDS: drain },
    }),
  [GATEWAY]: async (drain) =>
    createInstance(GATEWAY, "GATEWAY_PORT", {
      ...{ CORE_URL: `http://127.0.0.1:${stack.corePort}`, DRAIN_SECONDS: drain },
      GATEWAY_CREDENTIAL: await stack.credential(Permission.ClientAddressForward),
    }),
  [DELIVERIES]: async (drain) =>
    createInstance(DELIVERIES, undefined, {
      ...{ CORE_URL: `http://127.0.0.1:${stack.corePort}`, DRAIN_SECONDS: drain, ...NO_TEMPORAL },
      CORE_CREDENTIAL: await stack.credential(Permission.DeliveryDispatch),
    }),
  [SERVE]: (drain) =>
    createInstance(SERVE, "GATEWAY_PORT", {
      ...{ ...KEYS, DATABASE_URL: stack.database.url, DRAIN_SECONDS: drain, ...NO_TEMPORAL },
      CORE_PORT: "0",
    }),
};

async function start(program: string, drain: string): Promise<ProcessInstance> {
  const one = await CREATE[program]?.(drain);
  if (one === undefined) throw new Error(`${program} is not one of them`);
  started.push(one);
  await one.start();
  return one;
}

it.each([CORE, GATEWAY, DELIVERIES, SERVE])(
  "%s says at SIGTERM that it does not serve, lives on for DRAIN_SECONDS, and ends with 0, ADR 0043",
  async (program) => {
    const one = await start(program, "3");
    expect(await one.health("/live")).toEqual([200, "live"]);
    expect((await requestOf(one.healthPort, "/", {})).status).toBe(404);
    await one.end();
  },
  180_000,
);

it("a gateway that drains serves clients, on connections that it closes, until a second signal", async () => {
  const { apiKey } = await createReader(stack);
  const gateway = await start(GATEWAY, "60");
  gateway.signal("SIGTERM");
  await expect.poll(() => gateway.health("/ready")).toEqual([503, "draining"]);
  const { status, headers } = await requestOf(gateway.port, "/api/v1/me", { apiKey });
  expect([status, headers.connection]).toEqual([200, "close"]);
  // Two within a second are one: npm passes on what the terminal sends too.
  const isGone = async () => {
    gateway.signal("SIGINT");
    return (await gateway.health("/live")) === undefined;
  };
  await expect.poll(isGone).toBe(true);
  expect(await gateway.ended()).toBe(1);
});

it("a core that drains says NOT_SERVING by the gRPC health protocol, and ends who watches", async () => {
  const core = await start(CORE, "60");
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${core.port}` });
  const health = createClient(Health, transport);
  const told: Status[] = [];
  const watching = (async () => {
    for await (const { status } of health.watch({})) told.push(status);
  })();
  await expect.poll(() => told).toEqual([Status.SERVING]);
  core.signal("SIGTERM");
  await watching;
  expect(told).toEqual([Status.SERVING, Status.NOT_SERVING]);
  expect((await health.check({})).status).toBe(Status.NOT_SERVING);
});
