import { beforeAll, describe, expect, it } from "vitest";
import { createPlatformEvent, createReader } from "../harness/builders.ts";
import { expectError } from "../harness/expectations.ts";
import type { ErrorJson, PageJson } from "../harness/json.ts";
import { useTestStack } from "../harness/stack.ts";

const stack = useTestStack();
let apiKey: string;
let accountId: string;
beforeAll(async () => {
  ({ accountId, apiKey } = await createReader(stack));
  await createPlatformEvent(stack, accountId);
});

describe("§4.2 GET /activity refuses with invalid_parameter", () => {
  it.each([
    ["an unknown parameter", "?account_id=1", "account_id"],
    ["a known one in other case", "?Limit=5", "Limit"],
    ["a repeated one", "?limit=5&limit=5", "limit"],
    ["an empty value", "?type=", "type"],
    ["an empty name", "?=5", ""],
    ["a limit of 0", "?limit=0", "limit"],
    ["a limit of 101", "?limit=101", "limit"],
    ["a limit with a sign", "?limit=%2B5", "limit"],
    ["a limit with a leading zero", "?limit=05", "limit"],
    ["a limit with a fraction", "?limit=5.0", "limit"],
    ["another order", "?order=ASC", "order"],
    ["another type", "?type=Donation", "type"],
    ["another platform", "?platform=twitch", "platform"],
    ["a time without Z", "?since=2026-01-01T00:00:00", "since"],
    ["a time with an offset", "?since=2026-01-01T00:00:00%2B00:00", "since"],
    ["a date that does not exist", "?until=2026-02-29T00:00:00Z", "until"],
    ["a second that does not exist", "?until=2026-02-28T23:59:60Z", "until"],
    ["seven fractional digits", "?since=2026-01-01T00:00:00.0000001Z", "since"],
    ["broken percent-encoding", "?type=%zz", "type"],
    ["a byte that is no UTF-8", "?type=%ff", "type"],
    ["a cursor that is too long", `?cursor=${"A".repeat(2049)}`, "cursor"],
  ])("%s", async (_name, query, parameter) => {
    const answer = await stack.http(`/api/v1/activity${query}`, { apiKey });
    expectError(answer, 400, "invalid_parameter");
    expect(answer.json<ErrorJson>().error.message).toContain(parameter);
  });

  it("never repeats the value, which could be a secret", async () => {
    for (const name of ["type", "api_key", "limit", "since"]) {
      const answer = await stack.http(`/api/v1/activity?${name}=${apiKey}`, { apiKey });
      expectError(answer, 400, "invalid_parameter");
      expect(answer.text).not.toContain(apiKey);
    }
  });

  it("for any parameter of /me, which takes none", async () => {
    const answer = await stack.http("/api/v1/me?limit=5", { apiKey });
    expectError(answer, 400, "invalid_parameter");
  });
});

describe("§4.2 GET /activity refuses with invalid_cursor", () => {
  async function firstCursor(query: string): Promise<string> {
    const answer = await stack.http(`/api/v1/activity${query}`, { apiKey });
    return answer.json<PageJson>().pagination.next_cursor ?? "";
  }

  it.each(["?cursor=", "?cursor=abc", `?cursor=${"A".repeat(56)}`, `?cursor=${"A".repeat(2048)}`])(
    "a cursor that was never issued: %#",
    async (query) => {
      const answer = await stack.http(`/api/v1/activity${query}`, { apiKey });
      expectError(answer, 400, "invalid_cursor");
    },
  );

  it.each([
    ["another order", "&order=asc"],
    ["a type", "&type=follow"],
    ["a platform", "&platform=service"],
    ["a since", "&since=2020-01-01T00:00:00Z"],
    ["an until", "&until=2030-01-01T00:00:00Z"],
  ])("a cursor that is used with %s it was not issued for", async (_name, more) => {
    const cursor = await firstCursor("");
    const answer = await stack.http(`/api/v1/activity?cursor=${cursor}${more}`, { apiKey });
    expectError(answer, 400, "invalid_cursor");
  });

  it("a cursor of another account", async () => {
    const other = await createReader(stack);
    const answer = await stack.http(`/api/v1/activity?cursor=${await firstCursor("")}`, {
      apiKey: other.apiKey,
    });
    expectError(answer, 400, "invalid_cursor");
  });

  it("and takes one with the same times in another spelling and another limit", async () => {
    const cursor = await firstCursor("?since=2020-01-01T00:00:00Z");
    const answer = await stack.http(
      `/api/v1/activity?since=2020-01-01T00%3A00%3A00.000Z&limit=7&cursor=${cursor}`,
      { apiKey },
    );
    expect(answer.status).toBe(200);
  });
});
