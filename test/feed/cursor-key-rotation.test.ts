import { createGateway } from "@activity/gateway";
import { Permission } from "@activity/server";
import type { Transport } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { createPlatformEvent, createReader } from "../harness/builders.ts";
import { transportTo } from "../harness/clients.ts";
import { expectError } from "../harness/expectations.ts";
import { requestOf } from "../harness/http.ts";
import type { PageJson } from "../harness/json.ts";
import { QUIET } from "../harness/quiet.ts";
import { useTestStack } from "../harness/stack.ts";

const stack = useTestStack();

it("ADR 0032: a running gateway gives out cursors of the new key once its core signs with it", async () => {
  const other = await stack.startInstance({ env: { CURSOR_KEYS: "1".repeat(64) } });
  const credential = await stack.credential(Permission.ClientAddressForward);
  const connect = (port: number) =>
    transportTo(`http://127.0.0.1:${port}`, { "x-service-credential": credential });
  let core = connect(stack.corePort);
  const upstream: Transport = {
    unary: (...call) => core.unary(...call),
    stream: (...call) => core.stream(...call),
  };
  const gateway = createGateway({ upstream, log: QUIET });
  const { port } = await gateway.listen(0, "127.0.0.1");
  const { accountId, apiKey } = await createReader(stack);
  await createPlatformEvent(stack, accountId);
  const read = (after = "") =>
    requestOf(port, `/api/v1/activity?order=asc${after && `&cursor=${after}`}`, { apiKey });
  const cursorOf = async (page = read()) =>
    (await page).json<PageJson>().pagination.next_cursor ?? "";

  // Makes the gateway keep both pages: it keeps a page after its second request, and an empty page at once.
  await read();
  const old = await cursorOf();
  expect(await cursorOf(read(old))).toBe(old);

  core = connect(other.corePort);
  expectError(await read(old), 400, "invalid_cursor");
  expect((await read(await cursorOf())).status).toBe(200);
  await gateway.close();
});
