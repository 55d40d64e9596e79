import { AccountService, ApiKeyService } from "@activity/proto";
import { describe, expect, it } from "vitest";
import { createAccount, createApiKey, createReader } from "../harness/builders.ts";
import { expectError } from "../harness/expectations.ts";
import { requestOf } from "../harness/http.ts";
import { useTestStack } from "../harness/stack.ts";

const stack = useTestStack();

const LIVE = `act_live_${"0123456789abcdef".repeat(4)}`;

/** What else is no key, `gateway/src/bearer-token.test.ts` lists. */
describe("§5 a request without a usable key gets invalid_api_key", () => {
  it.each([
    ["no header", {}],
    ["an unknown key", { authorization: `Bearer ${LIVE}` }],
    ["two headers", { authorization: [`Bearer ${LIVE}`, `Bearer ${LIVE}`] }],
    ["a cookie", { cookie: `key=${LIVE}` }],
  ] as const)("with %s", async (_name, headers) => {
    for (const path of ["/api/v1/me", "/api/v1/activity"]) {
      expectError(await stack.http(path, { headers }), 401, "invalid_api_key");
    }
  });

  it("with a key in the URL only", async () => {
    const { apiKey } = await createReader(stack);
    const answer = await stack.http(`/api/v1/activity?api_key=${apiKey}`);
    expectError(answer, 401, "invalid_api_key");
    expect(answer.text).not.toContain(apiKey);
  });

  it("with one message for all, so that nothing tells them apart", async () => {
    const { accountId, apiKey, apiKeyId } = await createReader(stack);
    await stack.client(ApiKeyService).revokeApiKey({ accountId, apiKeyId });
    const bodies = [];
    for (const headers of [
      {},
      { authorization: `Bearer ${LIVE}` },
      { authorization: `Bearer ${apiKey}` },
    ]) {
      const answer = await stack.http("/api/v1/me", { headers });
      const names = Object.keys(answer.headers).sort();
      bodies.push(
        JSON.stringify([answer.status, names, answer.text.replace(/req[^"]*|[0-9a-f-]{36}/g, "")]),
      );
    }
    const ids = /"request_id\\":\\"[^"]*/g;
    expect(new Set(bodies.map((body) => body.replace(ids, ""))).size).toBe(1);
  });
});

describe("§5.7 a change of access holds from the very next request on, on every instance", () => {
  it("for a revoked key, an expired key, a blocked, an unverified and a deleted account", async () => {
    const second = await stack.startInstance();
    const onBoth = async (apiKey: string) => {
      const headers = { authorization: `Bearer ${apiKey}`, "x-forwarded-for": "203.0.113.9" };
      const answers = [stack.gatewayPort, second.gatewayPort].map((port) =>
        requestOf(port, "/api/v1/me", { headers }),
      );
      const [one, two] = await Promise.all(answers);
      if (one === undefined || two === undefined) throw new Error("no answer");
      expect(two.status).toBe(one.status);
      return one;
    };
    const accounts = stack.client(AccountService);
    const reader = await createReader(stack);
    const { accountId } = reader;

    expect((await onBoth(reader.apiKey)).status).toBe(200);
    await accounts.blockAccount({ accountId });
    expectError(await onBoth(reader.apiKey), 403, "account_unavailable");
    await accounts.unblockAccount({ accountId });
    expect((await onBoth(reader.apiKey)).status).toBe(200);

    await stack.database.query("UPDATE api_key SET expires_at = created_at WHERE id = ?", [
      reader.apiKeyId,
    ]);
    expectError(await onBoth(reader.apiKey), 401, "invalid_api_key");

    const { id: apiKeyId, text } = await createApiKey(stack, accountId);
    expect((await onBoth(text)).status).toBe(200);
    await stack.client(ApiKeyService).revokeApiKey({ accountId, apiKeyId });
    expectError(await onBoth(text), 401, "invalid_api_key");

    const last = await createApiKey(stack, accountId);
    await accounts.deleteAccount({ accountId });
    expectError(await onBoth(last.text), 403, "account_unavailable");

    const unverified = await createAccount(stack, { verified: false });
    const early = await createApiKey(stack, unverified);
    expectError(await onBoth(early.text), 403, "account_unavailable");
    await accounts.verifyAccount({ accountId: unverified });
    expect((await onBoth(early.text)).status).toBe(200);
  });
});
