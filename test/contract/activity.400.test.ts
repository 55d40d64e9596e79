import { beforeAll, describe, expect, it } from "vitest";
import { createPlatformEvent, createReader } from "../harness/builders.ts";
import { expectError } from "../harness/expectations.ts";
import { readPage } from "../harness/pages.ts";
import { useTestStack } from "../harness/stack.ts";

const stack = useTestStack();
let apiKey: string;
let accountId: string;
beforeAll(async () => {
  ({ accountId, apiKey } = await createReader(stack));
  await createPlatformEvent(stack, accountId);
});

/** `gateway/src/query` tests every other wrong parameter. */
it("§4.2 GET /activity refuses with invalid_parameter and never repeats the value, which could be a secret", async () => {
  for (const name of ["type", "api_key", "limit", "since"]) {
    const answer = await stack.http(`/api/v1/activity?${name}=${apiKey}`, { apiKey });
    expectError(answer, 400, "invalid_parameter");
    expect(answer.text).not.toContain(apiKey);
  }
});

describe("§4.2 GET /activity refuses with invalid_cursor", () => {
  const cursorOf = async (query = "") =>
    (await readPage(stack, apiKey, query)).pagination.next_cursor ?? "";

  async function expectRefused(query: string, key = apiKey) {
    const answer = await stack.http(`/api/v1/activity?cursor=${query}`, { apiKey: key });
    expectError(answer, 400, "invalid_cursor");
  }

  it.each(["", "A".repeat(2048)])("a cursor that was never issued: %#", (cursor) =>
    expectRefused(cursor),
  );

  it.each([
    ["another order", "&order=asc"],
    ["a type", "&type=follow"],
    ["a platform", "&platform=service"],
    ["a since", "&since=2020-01-01T00:00:00Z"],
    ["an until", "&until=2030-01-01T00:00:00Z"],
  ])("a cursor with %s that it was not issued for", async (_name, more) => {
    await expectRefused(`${await cursorOf()}${more}`);
  });

  it("a cursor of another account", async () => {
    await expectRefused(await cursorOf(), (await createReader(stack)).apiKey);
  });

  it("but accepts one with the same times in another spelling, and with another limit", async () => {
    const cursor = await cursorOf("?since=2020-01-01T00:00:00Z");
    await readPage(stack, apiKey, `?since=2020-01-01T00%3A00%3A00.000Z&limit=7&cursor=${cursor}`);
  });
});
