import { spawn } from "node:child_process";
import { AttemptOutcome, DeliveryService, EndpointService, SessionService } from "@activity/proto";
import { createServiceCredential, Permission } from "@activity/server";
import { Connection, WorkflowClient } from "@temporalio/client";
import { describe, expect, it } from "vitest";
import { findFreePort, findFreePorts } from "../../dev-stack/src/free-port.ts";
import { readServeConfig } from "../../tools/serve/serve-config.ts";
import { namesIn, ROOT } from "../architecture/import-rule.ts";
import { baseEnv } from "../harness/base-env.ts";
import { createEndpoint, createReader } from "../harness/builders.ts";
import { clientsOf } from "../harness/clients.ts";
import { useTestDatabase } from "../harness/database.ts";
import { requestOf } from "../harness/http.ts";
import { useTemporal } from "../harness/temporal.ts";
import { useFolder } from "../harness/use-started.ts";
import { healthAt } from "../operating/harness-instances.ts";
import { KEYS } from "../operating/harness-parts.ts";
import { usePrograms, useRuns, watch } from "./harness-program.ts";

const SERVE = "tools/serve/serve.ts";
/** The time limit of a start: npm starts slowly beside other tests. */
const START = { timeout: 90_000 };

const folder = useFolder("serve");
/** An empty database, which the product migrates. */
const database = useTestDatabase({ migrated: false });
const temporal = useTemporal(folder);
const run = usePrograms();
const runNpm = useRuns((env: NodeJS.ProcessEnv) => {
  const options = { cwd: ROOT, env: { ...baseEnv(), HOME: process.env.HOME, ...env } };
  return watch(spawn("npm", ["run", "--silent", "serve"], options));
});

async function production() {
  const [core = 0, gateway = 0, health = 0, dashboard = 0] = await findFreePorts(4);
  const env = {
    ...{ ...KEYS, DATABASE_URL: database.url, TEMPORAL_ADDRESS: temporal.address },
    ...{ CORE_PORT: `${core}`, GATEWAY_PORT: `${gateway}`, HEALTH_PORT: `${health}` },
    ...{ DASHBOARD_PORT: `${dashboard}`, DASHBOARD_URL: "https://dash.example.com" },
  };
  return { env, core, gateway, health, dashboard };
}

describe("core, gateway and deliveries in one production process", () => {
  it("migrate, read, write, deliver and retry, create no account and print no key; SIGTERM drains and ends them, ADR 0043", async () => {
    const { env, ...ports } = await production();
    const one = run(SERVE, { ...env, DRAIN_SECONDS: "6" });
    await one.untilSaid("deliveries run");

    const [rows] = await database.query<{ accounts: number; credentials: number }>(
      `SELECT (SELECT COUNT(*) FROM account) AS accounts,
         (SELECT COUNT(*) FROM service_credential) AS credentials`,
    );
    expect(rows).toEqual({ accounts: 0, credentials: 0 });
    await expect.poll(() => healthAt(ports.health, "/ready")).toEqual([200, "serving"]);
    expect(await healthAt(ports.health, "/live")).toEqual([200, "live"]);
    expect((await requestOf(ports.health, "/", {})).status).toBe(404);

    const permissions = Object.values(Permission);
    const credential = await createServiceCredential(database.url, "test", permissions);
    const client = clientsOf(`http://127.0.0.1:${ports.core}`, credential);
    const { accountId, apiKey } = await createReader({ client });
    const me = await requestOf(ports.gateway, "/api/v1/me", { apiKey });
    expect(me.json<{ data: unknown }>().data).toMatchObject({ id: accountId });

    const link = await client(SessionService).createSessionLink({ accountId, scopes: [1] });
    expect(link.url).toMatch(/^https:\/\/dash\.example\.com\/#code=[0-9a-f]{64}$/);
    const page = await requestOf(ports.dashboard, "/", {});
    expect(page.headers["strict-transport-security"]).toBe("max-age=31536000");

    const local = createEndpoint({ client }, accountId, `https://127.0.0.1:${ports.gateway}/`);
    await expect(local).rejects.toThrow(/\burl\b/);
    // No name below .invalid ever resolves (RFC 6761). The attempt fails without sending a packet to a receiver.
    const nowhere = "https://receiver.invalid/hook";
    const { endpointId, secret } = await createEndpoint({ client }, accountId, nowhere);
    const { deliveryId } = await client(EndpointService).sendTest({ accountId, endpointId });
    const outcomes = async () => {
      const { attempts } = await client(DeliveryService).getDelivery({ accountId, deliveryId });
      return attempts.map(({ outcome }) => outcome);
    };
    await expect.poll(outcomes).toEqual([AttemptOutcome.DNS_FAILED]);
    await expect.poll(retries).toBe(1);

    one.child.kill("SIGTERM");
    await expect.poll(() => healthAt(ports.health, "/ready")).toEqual([503, "draining"]);
    expect(await healthAt(ports.health, "/live")).toEqual([200, "live"]);
    expect(await one.ended).toBe(0);
    const { password } = new URL(database.url);
    const confidential = [link.url.split("=")[1] ?? "", apiKey, secret, credential, password];
    for (const text of [...confidential, ...Object.values(KEYS)]) {
      expect(one.output()).not.toContain(text);
    }
  });

  it("are started by npm run serve, live while another instance migrates the database, serve after that, and end with npm", async () => {
    const { env, health, gateway } = await production();
    const lock = "'migrate:', LEFT(DATABASE(), 50)";
    await database.query(`SELECT GET_LOCK(CONCAT(${lock}), 5)`);
    const metrics = await findFreePort();
    const npm = runNpm({ ...env, METRICS_PORT: `${metrics}` });
    await expect.poll(() => healthAt(health, "/live"), START).toEqual([200, "live"]);
    const scrape = () => requestOf(metrics, "/metrics", {}).then(({ status }) => status, String);
    await expect.poll(scrape).toBe(200);
    expect((await healthAt(health, "/ready"))?.[0]).toBe(503);
    await database.query(`SELECT RELEASE_LOCK(CONCAT(${lock}))`);
    await expect.poll(() => healthAt(health, "/ready"), START).toEqual([200, "serving"]);
    await npm.end();
    await expect.poll(() => requestOf(gateway, "/", {}).catch(() => "closed")).toBe("closed");
  });
});

it("the settings of all three name every missing or bad variable at once, and repeat no value", async () => {
  const missing = /^DATABASE_URL .*\nCURSOR_KEYS .*\nSECRET_KEYS .*\nTEMPORAL_ADDRESS .*$/;
  expect(() => readServeConfig({})).toThrow(missing);
  const names = `
    DATABASE_CONNECTIONS REDIS_URL CURSOR_KEYS SECRET_KEYS DELIVERY_RETENTION CORE_PORT
    ALLOW_PLAINTEXT CORE_TLS_CERT GATEWAY_PORT HEALTH_PORT DASHBOARD_URL DASHBOARD_PORT
    DASHBOARD_FRAME_ANCESTORS TRUSTED_PROXIES DELIVERY_WORKFLOWS TEMPORAL_ADDRESS
    TEMPORAL_TLS_CLIENT_KEY_PATH WEBHOOK_ALLOWED_TARGETS WEBHOOK_EXTRA_CA
    ALLOW_UNSAFE_TARGETS`
    .trim()
    .split(/\s+/);
  const bad = Object.fromEntries(names.map((name) => [name, "geheim"]));
  bad.DATABASE_URL = "mysql://geheim@db/geheim?geheim=1";
  const { closed, output } = run(SERVE, bad);
  expect(await closed).toBe(1);
  expect(output()).not.toMatch(/\n\s+at /);
  const expected = Object.keys(bad).filter((name) => name !== "ALLOW_PLAINTEXT");
  const firstNames = namesIn(output(), /^.*?\b([A-Z]+(?:_[A-Z]+)+)\b/gm);
  expect(firstNames).toEqual(expect.arrayContaining(expected));
  expect(output()).not.toContain("geheim");
});

/** Counts the running workflows in Temporal. */
async function retries(): Promise<number> {
  const connection = await Connection.connect({ address: temporal.address });
  const counting = new WorkflowClient({ connection }).count("ExecutionStatus = 'Running'");
  return (await counting.finally(() => connection.close())).count;
}
