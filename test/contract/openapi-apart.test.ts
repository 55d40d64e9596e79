import { createCoreTransport, createGateway, type Gateway } from "@activity/gateway";
import { Permission } from "@activity/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPlatformEvent, createReader } from "../harness/builders.ts";
import { expectError } from "../harness/expectations.ts";
import { type HttpRequest, requestOf } from "../harness/http.ts";
import { startTestStack, type TestStack } from "../harness/stack.ts";
import { expectToMatchOpenapi } from "./openapi-conformance.ts";

const PER_ADDRESS = 300;

let stack: TestStack;
let core: ReturnType<typeof createCoreTransport>;
let gateway: Gateway;
let port: number;
beforeAll(async () => {
  stack = await startTestStack();
  const credential = await stack.credential(Permission.ClientAddressForward);
  core = createCoreTransport({
    coreUrl: `http://127.0.0.1:${stack.corePort}`,
    coreTls: {},
    revealCredential: () => credential,
  });
  gateway = createGateway({ upstream: core.transport, trustedProxies: ["127.0.0.1"] });
  ({ port } = await gateway.listen(0, "127.0.0.1"));
});
afterAll(async () => {
  await gateway.close();
  core.close();
  await stack.stop();
});

const send = (path: string, address: string, request: HttpRequest = {}) =>
  requestOf(port, path, { ...request, headers: { "x-forwarded-for": address } });

describe("a gateway apart from its core", () => {
  it("answers as described: data, refusals, and what is left of the limit on both", async () => {
    const { apiKey, accountId } = await createReader(stack);
    await createPlatformEvent(stack, accountId, { actorName: "💜" });
    const expected = [
      ["/api/v1/activity", 200],
      ["/api/v1/me", 200],
      ["/api/v1/activity?limit=0", 400],
      ["/api/v1/activity?cursor=x", 400],
    ] as const;
    for (const [path, status] of expected) {
      const answer = await send(path, "10.1.1.1", { apiKey });
      expect(answer.status).toBe(status);
      expect(answer.headers.ratelimit).toMatch(/^"account";r=\d+;t=\d+$/);
      expectToMatchOpenapi(answer);
    }
    expectError(await send("/api/v1/me", "10.1.1.1"), 401, "invalid_api_key");
    expectError(await send("/api/v1/x", "10.1.1.1"), 404, "not_found");
  });

  it("has each client counted by its own address", async () => {
    const ask = () => send("/api/v1/x", "10.1.1.2");
    const statuses = (await Promise.all(Array.from({ length: PER_ADDRESS }, ask))).map(
      ({ status }) => status,
    );
    expect(new Set(statuses)).toEqual(new Set([404]));
    const refused = await ask();
    expectError(refused, 429, "rate_limit_exceeded");
    expectToMatchOpenapi(refused);
    expectError(await send("/api/v1/x", "10.1.1.3"), 404, "not_found");
  });
});
