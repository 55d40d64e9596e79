import { ApiKeyService } from "@activity/proto";
import { expect, it } from "vitest";
import { createApiKey, createPlatformEvent, createReader } from "../harness/builders.ts";
import { expectError } from "../harness/expectations.ts";
import type { PageJson } from "../harness/json.ts";
import { useTestStack } from "../harness/stack.ts";

const stack = useTestStack();

const PATH = "/api/v1/activity?order=asc&limit=1";

it("§5.9 a new key goes on where the old one was, beside it and once that is revoked", async () => {
  const { accountId, apiKey: oldKey, apiKeyId } = await createReader(stack);
  for (let index = 0; index < 3; index++) await createPlatformEvent(stack, accountId);
  const read = async (apiKey: string, cursor?: string | null) => {
    const answer = await stack.http(`${PATH}${cursor ? `&cursor=${cursor}` : ""}`, { apiKey });
    expect(answer.status).toBe(200);
    return answer.json<PageJson>();
  };
  const first = await read(oldKey);
  const { text: newKey } = await createApiKey(stack, accountId);
  const second = await read(newKey, first.pagination.next_cursor);
  expect(await read(oldKey, first.pagination.next_cursor)).toEqual(second);
  await stack.client(ApiKeyService).revokeApiKey({ accountId, apiKeyId });
  expectError(await stack.http(PATH, { apiKey: oldKey }), 401, "invalid_api_key");
  const third = await read(newKey, second.pagination.next_cursor);
  const ids = [first, second, third].flatMap(({ data }) => data.map(({ id }) => id));
  expect(new Set(ids).size).toBe(3);
});

it("§2.4 a cursor contains nothing of the key that it was issued to, neither as text nor as bytes", async () => {
  const { accountId, apiKey } = await createReader(stack);
  await createPlatformEvent(stack, accountId);
  const { pagination } = (await stack.http(PATH, { apiKey })).json<PageJson>();
  const cursor = pagination.next_cursor ?? "";
  expect(cursor).not.toBe("");
  const digits = apiKey.slice("act_live_".length);
  const decoded = Buffer.from(cursor, "base64url");
  const forms = [cursor, decoded.toString("latin1"), decoded.toString("hex")];
  // Any eight digits of 64 would be a part of it; that they occur by chance is one in 10^7.
  for (let start = 0; start + 8 <= digits.length; start += 1) {
    for (const form of forms) expect(form).not.toContain(digits.slice(start, start + 8));
  }
});
