import { ApiKeyService, ErrorInfoSchema } from "@activity/proto";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { beforeEach, expect, it, vi } from "vitest";
import { StackError } from "../../dev-stack/src/stack-error.ts";
import { createKey } from "./demo-account.ts";

const wait = vi.fn(async (_milliseconds: number) => {});
beforeEach(() => void wait.mockClear());

/** Creates the demo's API key at a core that first refuses the call with `code`. */
function createRefused(code: string) {
  let calls = 0;
  const transport = createRouterTransport(({ service }) => {
    service(ApiKeyService, {
      createApiKey() {
        calls += 1;
        if (calls > 1) return { secret: "key" };
        const details = [{ desc: ErrorInfoSchema, value: { code } }];
        throw new ConnectError("refused", Code.ResourceExhausted, undefined, details);
      },
    });
  });
  return createKey({ apiKeys: createClient(ApiKeyService, transport) }, "account", wait);
}

it("the demo waits for the minute between two keys", async () => {
  expect(await createRefused("api_key_created_recently")).toBe("key");
  expect(wait.mock.calls).toEqual([[2_000]]);
});

it("the demo does not wait if its account has too many keys, and says what to do", async () => {
  const failure = await createRefused("api_key_limit_reached").catch((error) => error);
  expect(wait).not.toHaveBeenCalled();
  expect(failure).toBeInstanceOf(StackError);
  expect(failure.message).toContain("revoke one in its dashboard");
});
