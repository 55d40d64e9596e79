import { beforeAll, describe, expect, it } from "vitest";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { createPaidDonation, createReader } from "../harness/builders.ts";
import { expectError } from "../harness/expectations.ts";
import { requestOf } from "../harness/http.ts";
import type { PageJson } from "../harness/json.ts";
import { useTestStack } from "../harness/stack.ts";
import { type Part, useParts, variablesOf } from "../operating/harness-parts.ts";

const stack = useTestStack();
const startPart = useParts();
let core: Part;
let corePort: number;
let gatewayPort: number;

const startCore = async () =>
  startPart("core", { ...(await variablesOf("core", stack)), CORE_PORT: `${corePort}` });

beforeAll(async () => {
  corePort = await findFreePort();
  core = await startCore();
  const gateway = await startPart("gateway", {
    ...(await variablesOf("gateway", stack)),
    ...{ CORE_URL: `http://127.0.0.1:${corePort}`, TRUSTED_PROXIES: "127.0.0.1/32" },
  });
  gatewayPort = gateway.port;
});

describe("gateway and core in two processes", () => {
  const http = (path: string, apiKey?: string) =>
    requestOf(gatewayPort, path, { ...(apiKey && { apiKey }) });

  it("give the same answers as in one process", async () => {
    const { accountId, apiKey } = await createReader(stack);
    await createPaidDonation(stack, accountId, { donorName: "Zoë 🎉", message: '\u0000 \\ "' });
    const apart = await http("/api/v1/activity", apiKey);
    const together = await stack.http("/api/v1/activity", { apiKey });
    expect(apart.status).toBe(200);
    expect(apart.json<PageJson>().data).toEqual(together.json<PageJson>().data);
    const me = await stack.http("/api/v1/me", { apiKey });
    expect((await http("/api/v1/me", apiKey)).text).toBe(me.text);
    const refused = await http("/api/v1/activity?cursor=x", apiKey);
    expectError(refused, 400, "invalid_cursor");
    for (const { headers } of [apart, refused]) {
      expect(headers.ratelimit).toMatch(/^"account";r=\d+;t=\d+$/);
    }
    expectError(await http("/api/v1/me"), 401, "invalid_api_key");
    expectError(await http("/nothing"), 404, "not_found");
  });

  it("answer temporarily_unavailable while the core is down, and serve once it is back", async () => {
    const { apiKey } = await createReader(stack);
    await core.kill();
    for (const path of ["/api/v1/me", "/nothing"]) {
      expectError(await http(path, apiKey), 503, "temporarily_unavailable");
    }
    core = await startCore();
    await expect.poll(async () => (await http("/api/v1/me", apiKey)).status).toBe(200);
  });

  it("give a waiting client each record once, also when the core dies meanwhile. ADR 0052", async () => {
    const { accountId, apiKey } = await createReader(stack);
    const path = "/api/v1/activity?order=asc";
    /** Asks until a page has a record. It keeps only its cursor, as a simple client does. */
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
    await core.kill();
    await createPaidDonation(stack, accountId);
    core = await startCore();
    const given = [...data, ...(await second).data];
    expect(given).toHaveLength(2);
    expect(given).toEqual((await stack.http(path, { apiKey })).json<PageJson>().data);
  });
});
