import type { ChildProcess } from "node:child_process";
import { createServiceCredential, Permission } from "@activity/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { createPaidDonation, createReader } from "../harness/builders.ts";
import { expectError } from "../harness/expectations.ts";
import { requestOf } from "../harness/http.ts";
import type { PageJson } from "../harness/json.ts";
import { untilListening } from "../harness/listening.ts";
import { useTestStack } from "../harness/stack.ts";
import { type Run, startProgram } from "../start/harness-program.ts";

const stack = useTestStack();
let core: Run;
let corePort: number;
let gatewayPort: number;
const started: ChildProcess[] = [];

/** Starts one of our programs and waits until its port is open. */
async function start(path: string, port: number, env: Record<string, string>): Promise<Run> {
  const one = startProgram(path, env);
  started.push(one.child);
  await untilListening(one.child, port);
  return one;
}

const startCore = () =>
  start("server/src/main.ts", corePort, {
    DATABASE_URL: stack.database.url,
    CORE_PORT: `${corePort}`,
    CURSOR_KEYS: "ab".repeat(32),
    SECRET_KEYS: "cd".repeat(32),
  });

beforeAll(async () => {
  corePort = await findFreePort();
  gatewayPort = await findFreePort();
  core = await startCore();
  await start("gateway/src/main.ts", gatewayPort, {
    CORE_URL: `http://127.0.0.1:${corePort}`,
    GATEWAY_PORT: `${gatewayPort}`,
    TRUSTED_PROXIES: "127.0.0.1/32",
    GATEWAY_CREDENTIAL: await createServiceCredential(stack.database.url, "gateway", [
      Permission.ClientAddressForward,
    ]),
  });
});
afterAll(() => {
  for (const child of started) child.kill("SIGKILL");
});

describe("gateway and core in two processes", () => {
  const http = (path: string, apiKey?: string) =>
    requestOf(gatewayPort, path, { ...(apiKey && { apiKey }) });

  it("answer byte for byte as they do in one", async () => {
    const { accountId, apiKey } = await createReader(stack);
    await createPaidDonation(stack, accountId, { donorName: "Zoë 🎉", message: '\u0000 \\ "' });
    const apart = await http("/api/v1/activity", apiKey);
    const together = await stack.http("/api/v1/activity", { apiKey });
    expect(apart.status).toBe(200);
    expect(apart.json<PageJson>().data).toEqual(together.json<PageJson>().data);
    expect((await http("/api/v1/me", apiKey)).text).toBe(
      (await stack.http("/api/v1/me", { apiKey })).text,
    );
    expect(apart.headers.ratelimit).toMatch(/^"account";r=\d+;t=\d+$/);
    const refused = await http("/api/v1/activity?cursor=x", apiKey);
    expectError(refused, 400, "invalid_cursor");
    expect(refused.headers.ratelimit).toMatch(/^"account";r=\d+;t=\d+$/);
    expectError(await http("/api/v1/me"), 401, "invalid_api_key");
    expectError(await http("/nothing"), 404, "not_found");
  });

  it("reach nothing internal through the gateway", async () => {
    const path = "/activity.account.v1.AccountService/PutAccount";
    const answer = await requestOf(gatewayPort, path, { method: "POST" });
    expectError(answer, 404, "not_found");
  });

  it("answer temporarily_unavailable while the core is away, and serve when it is back", async () => {
    const { apiKey } = await createReader(stack);
    await core.end("SIGKILL");
    for (const path of ["/api/v1/me", "/nothing"]) {
      expectError(await http(path, apiKey), 503, "temporarily_unavailable");
    }
    core = await startCore();
    await expect
      .poll(async () => (await http("/api/v1/me", apiKey)).status, { timeout: 15_000 })
      .toBe(200);
  });

  it("give a client that waits each record once, also when the core dies meanwhile. ADR 0052", async () => {
    const { accountId, apiKey } = await createReader(stack);
    const path = "/api/v1/activity?order=asc";
    /** Asks until there is a record, as a client does that obeys nothing but its cursor. */
    const follow = async (cursor: string | null): Promise<PageJson> => {
      const next = cursor === null ? path : `${path}&cursor=${encodeURIComponent(cursor)}`;
      const answer = await requestOf(gatewayPort, next, { apiKey, headers: { prefer: "wait=10" } });
      const page = answer.status === 200 ? answer.json<PageJson>() : undefined;
      return page !== undefined && page.data.length > 0 ? page : follow(cursor);
    };
    const first = follow(null);
    await createPaidDonation(stack, accountId);
    const { data, pagination } = await first;
    const second = follow(pagination.next_cursor);
    await core.end("SIGKILL");
    await createPaidDonation(stack, accountId);
    core = await startCore();
    const given = [...data, ...(await second).data];
    expect(given).toHaveLength(2);
    expect(given).toEqual((await stack.http(path, { apiKey })).json<PageJson>().data);
  });
});
