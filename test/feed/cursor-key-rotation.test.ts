import { createGateway } from "@activity/gateway";
import type { Transport } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { createPlatformEvent, createReader } from "../harness/builders.ts";
import { expectError } from "../harness/expectations.ts";
import { requestOf } from "../harness/http.ts";
import { useTestStack } from "../harness/stack.ts";
import { connectToCore } from "./harness-core.ts";

const OLD = "0".repeat(64);
const NEW = "1".repeat(64);

const stack = useTestStack();

/** Connects to a core that signs with the first of these keys. */
async function connectToCoreWith(...keys: string[]) {
  const { corePort } = await stack.startInstance({ env: { CURSOR_KEYS: keys.join(",") } });
  return connectToCore(stack, corePort);
}

it("ADR 0032: a running gateway gives out cursors of the new key once its core signs with it", async () => {
  const cores = {
    before: await connectToCoreWith(OLD),
    during: await connectToCoreWith(NEW, OLD),
    after: await connectToCoreWith(NEW),
  };
  let core: Transport = cores.before.transport;
  const upstream: Transport = {
    unary: (...call) => core.unary(...call),
    stream: (...call) => core.stream(...call),
  };
  const gateway = createGateway({ upstream, trustedProxies: ["127.0.0.1/32"] });
  const { port } = await gateway.listen(0, "127.0.0.1");
  const { accountId, apiKey } = await createReader(stack);
  await createPlatformEvent(stack, accountId);
  const read = async (query: string) => {
    const answer = await requestOf(port, `/api/v1/activity?order=asc${query}`, { apiKey });
    const { pagination } = JSON.parse(answer.text);
    return { answer, cursor: pagination?.next_cursor as string };
  };
  // The gateway keeps a page after its second request.
  await read("");
  const { cursor: old } = await read("");

  core = cores.during.transport;
  const { cursor } = await read("");
  expect(cursor).not.toBe(old);
  // An empty page keeps the cursor that was sent. §4.4.3
  expect((await read(`&cursor=${old}`)).cursor).toBe(old);

  core = cores.after.transport;
  expect((await read(`&cursor=${cursor}`)).answer.status).toBe(200);
  expectError((await read(`&cursor=${old}`)).answer, 400, "invalid_cursor");
  expect((await read("")).cursor).toBe(cursor);
  await gateway.close();
  for (const each of Object.values(cores)) each.close();
});
