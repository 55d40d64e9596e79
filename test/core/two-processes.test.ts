import { AccountService } from "@activity/proto";
import { clientBucket } from "@activity/runtime/client-bucket";
import { Permission } from "@activity/server";
import { beforeAll, describe, expect, it } from "vitest";
import { findFreePort, findFreePorts } from "../../dev-stack/src/free-port.ts";
import { CLIENT_LIMIT } from "../../server/src/admission/admission.ts";
import { createAccount, createPaidDonation, createReader } from "../harness/builders.ts";
import { expectError } from "../harness/expectations.ts";
import { requestOf } from "../harness/http.ts";
import type { PageJson } from "../harness/json.ts";
import { useTestStack } from "../harness/stack.ts";
import { healthAt } from "../operating/harness-instances.ts";
import { type Part, useParts, variablesOf } from "../operating/harness-parts.ts";

/** The time limit for a gateway that must notice a change: it checks its core every ten seconds. */
const HEALED = { timeout: 30_000 };
const stack = useTestStack();
const startPart = useParts();

async function startGateway(credential: string, corePort = stack.corePort) {
  const [healthPort = 0, metricsPort = 0] = await findFreePorts(2);
  const { port, output: log } = await startPart("gateway", {
    ...{ CORE_URL: `http://127.0.0.1:${corePort}`, GATEWAY_CREDENTIAL: credential },
    ...{ GATEWAY_PORT: "0", HEALTH_PORT: `${healthPort}`, TRUSTED_PROXIES: "127.0.0.1/32" },
    METRICS_PORT: `${metricsPort}`,
  });
  const metrics = async () => (await requestOf(metricsPort, "/metrics", {})).text;
  return { port, health: () => healthAt(healthPort, "/ready"), log, metrics };
}

/** `gateway/src/upstream-error.test.ts` tests a credential that lacks the permission. */
it("a gateway in a process of its own whose credential is refused says why and answers 503", async () => {
  const gateway = await startGateway(`act_svc_${"0".repeat(64)}`);
  const reason = "invalid_service_credential";
  await expect.poll(gateway.health, HEALED).toEqual([503, reason]);
  expect(gateway.log()).toContain(
    `refuses GATEWAY_CREDENTIAL; requests get 503","code":"${reason}"`,
  );
  expect(await gateway.metrics()).toContain("activity_gateway_serving 0\n");
  const { apiKey } = await createReader(stack);
  for (const path of ["/api/v1/me", "/api/v1/activity?limit=0", "/nothing"]) {
    const headers = { "x-forwarded-for": "203.0.113.9" };
    const answer = await requestOf(gateway.port, path, { apiKey, headers });
    expectError(answer, 503, "temporarily_unavailable");
  }
  // The core counted no client. It counted only the gateway's own address, because the gateway's credential is unknown.
  const counted = "SELECT bucket FROM rate_window WHERE bucket <> ?";
  expect(await stack.database.query(counted, [clientBucket("127.0.0.1")])).toEqual([]);
  // Sends more requests than one address may send. The gateway's next check must still learn the reason.
  for (let request = 0; request <= CLIENT_LIMIT; request++) {
    expect((await requestOf(gateway.port, "/nothing", {})).status).toBe(503);
  }
  const authorization = `Bearer ${await stack.credential(Permission.AccountManage)}`;
  const accounts = stack.client(AccountService, { authorization });
  const accountId = await createAccount(stack);
  expect((await accounts.verifyAccount({ accountId })).account?.id).toBe(accountId);
});

describe("gateway and core in two processes", () => {
  let core: Part;
  let corePort: number;
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  const startCore = async () =>
    startPart("core", { ...(await variablesOf("core", stack)), CORE_PORT: `${corePort}` });
  beforeAll(async () => {
    corePort = await findFreePort();
    core = await startCore();
    const credential = await stack.credential(Permission.ClientAddressForward);
    gateway = await startGateway(credential, corePort);
  });
  const http = (path: string, apiKey?: string) => requestOf(gateway.port, path, { apiKey });

  it("say that they work together, and refuse as in one process", async () => {
    await expect.poll(gateway.health, HEALED).toEqual([200, "serving"]);
    expect(gateway.log()).toContain("the core serves this gateway");
    expect(await gateway.metrics()).toContain("activity_gateway_serving 1\n");
    const { apiKey } = await createReader(stack);
    const me = await http("/api/v1/me", apiKey);
    expect(me.text).toBe((await stack.http("/api/v1/me", { apiKey })).text);
    const refused = await http("/api/v1/activity?cursor=x", apiKey);
    expectError(refused, 400, "invalid_cursor");
    for (const { headers } of [me, refused]) {
      expect(headers.ratelimit).toMatch(/^"account";r=\d+;t=\d+$/);
    }
    expectError(await http("/api/v1/me"), 401, "invalid_api_key");
    expectError(await http("/nothing"), 404, "not_found");
  });

  it("answer temporarily_unavailable while the core is down, then give a waiting client each record once. ADR 0052", async () => {
    const { accountId, apiKey } = await createReader(stack);
    const path = "/api/v1/activity?order=asc";
    /** Asks until a page has a record. Keeps only the cursor of the last page, as a simple client does. */
    const follow = async (cursor: string | null): Promise<PageJson> => {
      const next = cursor === null ? path : `${path}&cursor=${encodeURIComponent(cursor)}`;
      const answer = await requestOf(gateway.port, next, {
        apiKey,
        headers: { prefer: "wait=10" },
      });
      const page = answer.status === 200 ? answer.json<PageJson>() : undefined;
      return page !== undefined && page.data.length > 0 ? page : follow(cursor);
    };
    const first = follow(null);
    await createPaidDonation(stack, accountId, { donorName: "Zoë 🎉", message: '\u0000 \\ "' });
    const { data, pagination } = await first;
    const second = follow(pagination.next_cursor);
    await core.kill();
    for (const down of ["/api/v1/me", "/nothing"]) {
      expectError(await http(down, apiKey), 503, "temporarily_unavailable");
    }
    await createPaidDonation(stack, accountId);
    core = await startCore();
    const given = [...data, ...(await second).data];
    expect(given).toHaveLength(2);
    expect(given).toEqual((await stack.http(path, { apiKey })).json<PageJson>().data);
  });
});
