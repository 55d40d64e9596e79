import { describe, expect, it } from "vitest";
import { createApiKey, createPlatformEvent, createReader } from "../harness/builders.ts";
import { expectError } from "../harness/expectations.ts";
import { countRowReads } from "../harness/row-reads.ts";
import { useTestStack } from "../harness/stack.ts";

const PATH = "/api/v1/activity";

const stack = useTestStack();

/** Lets the gateway keep a page. Returns a function that reads it again. */
async function keepPage() {
  const { accountId, apiKey } = await createReader(stack);
  await createPlatformEvent(stack, accountId);
  const read = () => stack.http(PATH, { apiKey });
  for (let time = 0; time < 2; time++) expect((await read()).status).toBe(200);
  const { answer, rowsRead } = await countRowReads(stack, read);
  expect([answer.status, rowsRead]).toEqual([200, 0]);
  return { accountId, read };
}

/** `test/contract/access.test.ts` tests that a kept page is refused without access. */
describe("ADR 0032: each request for a kept page", () => {
  it("§8 counts against the limit, shows what is left of it, and has its own id", async () => {
    const { read } = await keepPage();
    const [one, other] = [await read(), await read()];
    expect(one.text).toBe(other.text);
    expect(one.headers["x-request-id"]).not.toBe(other.headers["x-request-id"]);
    expect(one.headers.ratelimit).toMatch(/^"account";r=116;/);
    expect(other.headers.ratelimit).toMatch(/^"account";r=115;/);
    for (let left = 115; left > 0; left--) expect((await read()).status).toBe(200);
    expectError(await read(), 429, "rate_limit_exceeded");
  });

  it("§4.2 gets the page with another key of the account, and another page with another query", async () => {
    const { accountId, read } = await keepPage();
    const { text: apiKey } = await createApiKey(stack, accountId);
    expect((await stack.http(PATH, { apiKey })).text).toBe((await read()).text);
    expectError(await stack.http(`${PATH}?cursor=x`, { apiKey }), 400, "invalid_cursor");
    const other = await stack.http(`${PATH}?type=raid`, { apiKey });
    expect(other.text).toBe('{"data":[],"pagination":{"has_more":false,"next_cursor":null}}');
  });
});
