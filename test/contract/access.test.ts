import { AccountService, ApiKeyService, ErrorInfoSchema } from "@activity/proto";
import { beforeAll, describe, expect, it } from "vitest";
import {
  createAccount,
  createApiKey,
  createPlatformEvent,
  createReader,
} from "../harness/builders.ts";
import { expectError } from "../harness/expectations.ts";
import { requestOf } from "../harness/http.ts";
import type { PageJson } from "../harness/json.ts";
import { failureOf } from "../harness/methods.ts";
import { readPage } from "../harness/pages.ts";
import { useTestStack } from "../harness/stack.ts";

const stack = useTestStack();

const PATHS = ["/api/v1/me", "/api/v1/activity"];
const LIVE = `act_live_${"0123456789abcdef".repeat(4)}`;

/** `gateway/src/bearer-token.test.ts` tests further forms that are no key. */
describe("§5 a request without a usable key gets invalid_api_key", () => {
  it.each([
    ["no header", () => ({})],
    ["an unknown key", () => ({ authorization: `Bearer ${LIVE}` })],
    ["a cookie", (key: string) => ({ cookie: `key=${key}` })],
  ])("with %s", async (_name, headersOf) => {
    const { apiKey } = await createReader(stack);
    for (const path of PATHS) {
      const answer = await stack.http(path, { headers: headersOf(apiKey) });
      expectError(answer, 401, "invalid_api_key");
    }
  });

  it("with a key in the URL only", async () => {
    const { apiKey } = await createReader(stack);
    const answer = await stack.http(`/api/v1/activity?api_key=${apiKey}`);
    expectError(answer, 401, "invalid_api_key");
    expect(answer.text).not.toContain(apiKey);
  });

  it("with one message for all, so that no answer shows the reason", async () => {
    const { accountId, apiKey, apiKeyId } = await createReader(stack);
    await stack.client(ApiKeyService).revokeApiKey({ accountId, apiKeyId });
    const answers = new Set<string>();
    for (const request of [{}, { apiKey: LIVE }, { apiKey }]) {
      const { status, headers, text } = await stack.http("/api/v1/me", request);
      const body = text.replace(headers["x-request-id"] ?? "", "");
      answers.add(JSON.stringify([status, Object.keys(headers).sort(), body]));
    }
    expect(answers.size).toBe(1);
    expect([...answers][0]).toContain("The API key is invalid, expired or revoked.");
  });
});

describe("§5.7 a change of access holds from the very next request on, on every instance", () => {
  let ports: readonly number[];
  beforeAll(async () => {
    ports = [stack.gatewayPort, (await stack.startInstance()).gatewayPort];
  });

  /** Checks that each gateway refuses the profile and the feed with this error. */
  async function expectRefused(apiKey: string, status: number, code: string) {
    for (const port of ports) {
      for (const path of PATHS) expectError(await requestOf(port, path, { apiKey }), status, code);
    }
  }

  /** Reads each path twice from each gateway: a gateway caches a page at its second request. ADR 0032 */
  async function expectServed(apiKey: string) {
    for (const path of [...PATHS, ...PATHS]) {
      for (const port of ports) expect((await requestOf(port, path, { apiKey })).status).toBe(200);
    }
  }

  it("for a revoked key, an expired key, a blocked, an unverified and a deleted account", async () => {
    const accounts = stack.client(AccountService);
    const { accountId, apiKey, apiKeyId } = await createReader(stack);
    await createPlatformEvent(stack, accountId);

    await expectServed(apiKey);
    await accounts.blockAccount({ accountId });
    await expectRefused(apiKey, 403, "account_unavailable");
    await accounts.unblockAccount({ accountId });
    await expectServed(apiKey);

    const expire = "UPDATE api_key SET expires_at = created_at WHERE id = ?";
    await stack.database.query(expire, [apiKeyId]);
    await expectRefused(apiKey, 401, "invalid_api_key");

    const revoked = await createApiKey(stack, accountId);
    await expectServed(revoked.text);
    await stack.client(ApiKeyService).revokeApiKey({ accountId, apiKeyId: revoked.id });
    await expectRefused(revoked.text, 401, "invalid_api_key");

    // The core checks a key before its account, so blocking does not change the error.
    await accounts.blockAccount({ accountId });
    for (const key of [apiKey, revoked.text]) await expectRefused(key, 401, "invalid_api_key");
    await accounts.unblockAccount({ accountId });

    const last = await createApiKey(stack, accountId);
    await expectServed(last.text);
    await accounts.deleteAccount({ accountId });
    await expectRefused(last.text, 403, "account_unavailable");

    const unverified = await createAccount(stack, { verified: false });
    const early = await createApiKey(stack, unverified);
    await expectRefused(early.text, 403, "account_unavailable");
    await accounts.verifyAccount({ accountId: unverified });
    await expectServed(early.text);
  });
});

it.each([0, 31, 366, 3650])(
  "§2.7, §8 a validity of %i days is refused, for a new key and for a renewal",
  async (validityDays) => {
    const { accountId, apiKeyId } = await createReader(stack);
    const request = { accountId, apiKeyId, name: "test", validityDays };
    for (const method of [ApiKeyService.method.createApiKey, ApiKeyService.method.renewApiKey]) {
      const failure = await failureOf(stack.client, method, [request]);
      expect(failure?.findDetails(ErrorInfoSchema)[0]?.code).toBe("invalid_parameter");
    }
  },
);

const FEED = "?order=asc&limit=1";

it("§5.9 a new key continues at the old key's cursor, beside it and after its revocation", async () => {
  const { accountId, apiKey: oldKey, apiKeyId } = await createReader(stack);
  for (let index = 0; index < 3; index++) await createPlatformEvent(stack, accountId);
  const readAfter = (page: PageJson, apiKey: string) =>
    readPage(stack, apiKey, `${FEED}&cursor=${page.pagination.next_cursor}`);
  const first = await readPage(stack, oldKey, FEED);
  const { text: newKey } = await createApiKey(stack, accountId);
  const second = await readAfter(first, newKey);
  expect(await readAfter(first, oldKey)).toEqual(second);
  await stack.client(ApiKeyService).revokeApiKey({ accountId, apiKeyId });
  const refused = await stack.http("/api/v1/activity", { apiKey: oldKey });
  expectError(refused, 401, "invalid_api_key");
  const third = await readAfter(second, newKey);
  const ids = [first, second, third].flatMap(({ data }) => data.map(({ id }) => id));
  expect(new Set(ids).size).toBe(3);
});

it("§2.4 a cursor contains nothing of the key that it was issued to, as text or as bytes", async () => {
  const { accountId, apiKey } = await createReader(stack);
  await createPlatformEvent(stack, accountId);
  const { pagination } = await readPage(stack, apiKey);
  const cursor = pagination.next_cursor ?? "";
  expect(cursor).not.toBe("");
  const digits = apiKey.slice("act_live_".length);
  const decoded = Buffer.from(cursor, "base64url");
  const forms = [cursor, decoded.toString("latin1"), decoded.toString("hex")];
  // Checks every eight successive digits of the key. About one in 3 million cursors contains such digits by chance.
  for (let start = 0; start + 8 <= digits.length; start += 1) {
    for (const form of forms) expect(form).not.toContain(digits.slice(start, start + 8));
  }
});
