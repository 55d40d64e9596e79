import { AccountService, ApiKeyService } from "@activity/proto";
import { describe, expect, it } from "vitest";
import {
  createAccount,
  createApiKey,
  createPlatformEvent,
  createReader,
} from "../harness/builders.ts";
import { expectError } from "../harness/expectations.ts";
import { requestOf } from "../harness/http.ts";
import type { PageJson } from "../harness/json.ts";
import { useTestStack } from "../harness/stack.ts";

const stack = useTestStack();

const LIVE = `act_live_${"0123456789abcdef".repeat(4)}`;

/** `gateway/src/bearer-token.test.ts` tests further forms that are no key. */
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

const FEED = "/api/v1/activity?order=asc&limit=1";

it("§5.9 a new key goes on where the old one was, beside it and once that is revoked", async () => {
  const { accountId, apiKey: oldKey, apiKeyId } = await createReader(stack);
  for (let index = 0; index < 3; index++) await createPlatformEvent(stack, accountId);
  const read = async (apiKey: string, cursor?: string | null) => {
    const answer = await stack.http(`${FEED}${cursor ? `&cursor=${cursor}` : ""}`, { apiKey });
    expect(answer.status).toBe(200);
    return answer.json<PageJson>();
  };
  const first = await read(oldKey);
  const { text: newKey } = await createApiKey(stack, accountId);
  const second = await read(newKey, first.pagination.next_cursor);
  expect(await read(oldKey, first.pagination.next_cursor)).toEqual(second);
  await stack.client(ApiKeyService).revokeApiKey({ accountId, apiKeyId });
  expectError(await stack.http(FEED, { apiKey: oldKey }), 401, "invalid_api_key");
  const third = await read(newKey, second.pagination.next_cursor);
  const ids = [first, second, third].flatMap(({ data }) => data.map(({ id }) => id));
  expect(new Set(ids).size).toBe(3);
});

it("§2.4 a cursor contains nothing of the key that it was issued to, neither as text nor as bytes", async () => {
  const { accountId, apiKey } = await createReader(stack);
  await createPlatformEvent(stack, accountId);
  const { pagination } = (await stack.http(FEED, { apiKey })).json<PageJson>();
  const cursor = pagination.next_cursor ?? "";
  expect(cursor).not.toBe("");
  const digits = apiKey.slice("act_live_".length);
  const decoded = Buffer.from(cursor, "base64url");
  const forms = [cursor, decoded.toString("latin1"), decoded.toString("hex")];
  // Checks every run of eight digits of the key. Such a run occurs by chance once in 10^7 cursors.
  for (let start = 0; start + 8 <= digits.length; start += 1) {
    for (const form of forms) expect(form).not.toContain(digits.slice(start, start + 8));
  }
});
