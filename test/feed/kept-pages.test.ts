import { expect, it } from "vitest";
import { createApiKey, createPlatformEvent, createReader } from "../harness/builders.ts";
import { expectError } from "../harness/expectations.ts";
import { countRowReads } from "../harness/row-reads.ts";
import { useTestStack } from "../harness/stack.ts";

const PATH = "/api/v1/activity";

const stack = useTestStack();

/** `test/contract/access.test.ts` tests that a kept page is refused without access. */
it("ADR 0032: each request for a kept page counts and has its own id, with any key of the account. §4.2, §8", async () => {
  const { accountId, apiKey } = await createReader(stack);
  await createPlatformEvent(stack, accountId);
  const { text: otherKey } = await createApiKey(stack, accountId);
  const read = () => stack.http(PATH, { apiKey });
  // The gateway keeps a page after its second request.
  for (let time = 0; time < 2; time++) expect((await read()).status).toBe(200);
  const { answer, rowsRead } = await countRowReads(stack, read);
  expect([answer.status, rowsRead]).toEqual([200, 0]);

  const [one, other] = [await read(), await read()];
  expect(one.text).toBe(other.text);
  expect(one.headers["x-request-id"]).not.toBe(other.headers["x-request-id"]);
  expect(one.headers.ratelimit).toMatch(/^"account";r=116;/);
  expect(other.headers.ratelimit).toMatch(/^"account";r=115;/);
  expect((await stack.http(PATH, { apiKey: otherKey })).text).toBe(one.text);
  const withCursor = await stack.http(`${PATH}?cursor=x`, { apiKey: otherKey });
  expectError(withCursor, 400, "invalid_cursor");
  const filtered = await stack.http(`${PATH}?type=raid`, { apiKey: otherKey });
  expect(filtered.text).toBe('{"data":[],"pagination":{"has_more":false,"next_cursor":null}}');
  for (let left = 112; left > 0; left--) expect((await read()).status).toBe(200);
  expectError(await read(), 429, "rate_limit_exceeded");
});
