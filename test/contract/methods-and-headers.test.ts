import { ApiKeyService } from "@activity/proto";
import { beforeAll, describe, expect, it } from "vitest";
import { createPlatformEvent, createReader } from "../harness/builders.ts";
import { expectCommonHeaders, expectError } from "../harness/expectations.ts";
import type { HttpAnswer } from "../harness/http.ts";
import { useTestStack } from "../harness/stack.ts";

const PATHS = ["/api/v1/me", "/api/v1/activity"];
const ALLOW = "GET, HEAD, OPTIONS";

const stack = useTestStack();
let apiKey: string;
beforeAll(async () => {
  const reader = await createReader(stack);
  apiKey = reader.apiKey;
  await createPlatformEvent(stack, reader.accountId, { actorName: "💜" });
});

describe("§4.3 methods", () => {
  it.each(["POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"])(
    "%s gets method_not_allowed and the allowed methods, without a key",
    async (method) => {
      for (const path of PATHS) {
        const answer = await stack.http(path, { method });
        expectError(answer, 405, "method_not_allowed");
        expect(answer.headers.allow).toBe(ALLOW);
      }
    },
  );

  it("HEAD answers with the status and headers of GET, and no body", async () => {
    for (const path of [...PATHS, "/api/v1/activity?limit=0", "/api/v1/nothing"]) {
      const get = await stack.http(path, { apiKey });
      const head = await stack.http(path, { apiKey, method: "HEAD" });
      expect(head.status).toBe(get.status);
      expect(head.text).toBe("");
      expect(Object.keys(head.headers).sort()).toEqual(Object.keys(get.headers).sort());
      expect(head.headers["content-length"]).toBe(get.headers["content-length"]);
      expect(head.headers["content-type"]).toBe(get.headers["content-type"]);
    }
  });

  it("OPTIONS makes the checks of GET, then answers 204 with Allow", async () => {
    for (const path of PATHS) {
      const answer = await stack.http(path, { apiKey, method: "OPTIONS" });
      expectCommonHeaders(answer);
      expect([answer.status, answer.text, answer.headers.allow]).toEqual([204, "", ALLOW]);
      expectError(await stack.http(path, { method: "OPTIONS" }), 401, "invalid_api_key");
      const bad = await stack.http(`${path}?nonsense=1`, { apiKey, method: "OPTIONS" });
      expectError(bad, 400, "invalid_parameter");
    }
    const forged = await stack.http(`/api/v1/activity?cursor=${"A".repeat(56)}`, {
      apiKey,
      method: "OPTIONS",
    });
    expectError(forged, 400, "invalid_cursor");
  });
});

/** `gateway/src/app.test.ts` tests further spellings of known paths. */
it.each([
  "/",
  "/api/v1/Me",
  "/api/v2/me",
  "/activity.read.v1.MeService/GetMe",
  "/grpc.health.v1.Health/Check",
])("a path that the API does not have gets not_found, without a key: %s", async (path) => {
  expectError(await stack.http(path), 404, "not_found");
  expectError(await stack.http(path, { method: "POST" }), 404, "not_found");
});

describe("every answer", () => {
  it("has the common headers, is described, and has a request id of its own, not the client's", async () => {
    const headers = { "x-request-id": "mine", origin: "https://example.com" };
    const wrong = ["/api/v1/activity?x=1", "/api/v1/activity?cursor=x", "/api/v1/me?x=1"];
    for (const path of [...PATHS, ...wrong, "/nothing"]) {
      for (const method of ["GET", "HEAD", "OPTIONS", "POST", "DELETE"]) {
        for (const request of [{ headers }, { headers, apiKey }]) {
          const answer = await stack.http(path, { ...request, method });
          expectCommonHeaders(answer);
          expect(answer.headers["x-request-id"]).not.toBe("mine");
        }
      }
    }
  });

  it("shows the rest of the account's limit after authentication", async () => {
    const reader = await createReader(stack);
    const read = (path: string) => stack.http(path, { apiKey: reader.apiKey });
    const beganMs = performance.now();
    /** Checks how many requests are left, and the whole seconds until the first one leaves the window. */
    const expectLeft = ({ headers }: HttpAnswer, left: number) => {
      const [, seconds] =
        new RegExp(`^"account";r=${left};t=(\\d+)$`).exec(headers.ratelimit ?? "") ?? [];
      expect(Number(seconds)).toBeLessThanOrEqual(60);
      expect(Number(seconds)).toBeGreaterThanOrEqual(
        60 - Math.ceil((performance.now() - beganMs) / 1_000),
      );
    };
    const first = await read("/api/v1/me");
    expect(first.headers["ratelimit-policy"]).toBe('"account";q=120;w=60');
    expect(first.headers.ratelimit).toMatch(/^"account";r=119;t=60$/);
    const refused = await read("/api/v1/activity?limit=0");
    expectLeft(refused, 118);
    const cursor = await read("/api/v1/activity?cursor=x");
    expectLeft(cursor, 117);
    const without = await stack.http("/api/v1/me");
    expect(without.headers.ratelimit).toBeUndefined();
  });
});

it("§2.5 GET /me shows the public profile, the scope and the key's prefix and end, and nothing else", async () => {
  const reader = await createReader(stack);
  const answer = await stack.http("/api/v1/me", { apiKey: reader.apiKey });
  expect(answer.status).toBe(200);
  const { apiKeys } = await stack
    .client(ApiKeyService)
    .listApiKeys({ accountId: reader.accountId });
  const { seconds, nanos } = apiKeys[0]?.expiresAt ?? expect.unreachable();
  const second = new Date(Number(seconds) * 1_000).toISOString().slice(0, 19);
  expect(answer.json()).toEqual({
    data: {
      id: reader.accountId,
      username: expect.stringMatching(/^user-/),
      display_name: "Streamer ★",
      scopes: ["activity:read"],
      key: {
        prefix: reader.apiKey.slice(0, "act_live_".length + 8),
        expires_at: `${second}.${String(nanos / 1_000).padStart(6, "0")}Z`,
      },
    },
  });
});
