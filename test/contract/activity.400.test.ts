import { beforeAll, describe, expect, it } from "vitest";
import { createPlatformEvent, createReader } from "../harness/builders.ts";
import { expectError } from "../harness/expectations.ts";
import type { PageJson } from "../harness/json.ts";
import { useTestStack } from "../harness/stack.ts";

const stack = useTestStack();
let apiKey: string;
let accountId: string;
beforeAll(async () => {
  ({ accountId, apiKey } = await createReader(stack));
  await createPlatformEvent(stack, accountId);
});

/** `openapi.test.ts` tests every other wrong parameter. */
describe("§4.2 GET /activity refuses with invalid_parameter", () => {
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
