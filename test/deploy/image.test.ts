import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SessionService } from "@activity/proto";
import { UNTRUSTED_PROXY } from "@activity/runtime/client-address";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { silentProgress } from "../../dev-stack/src/progress.ts";
import { startTemporal } from "../../dev-stack/src/temporal.ts";
import { useTestDatabase } from "../harness/database.ts";
import { requestOf } from "../harness/http.ts";
import { useFolder, useStarted } from "../harness/use-started.ts";
import type { Run } from "../start/harness-program.ts";
import { buildImage, type Image, runInImage } from "./harness-image.ts";

const BUILD_WITHIN_MS = 540_000;

const folder = useFolder("deploy");
const secrets = useFolder("secrets");
const database = useTestDatabase();
const temporal = useStarted(() =>
  startTemporal({ env: process.env, dataDir: join(folder, "temporal"), progress: silentProgress }),
);
let image: Image;
const started: Run[] = [];
beforeAll(() => {
  image = buildImage();
  keep("database-url", database.url);
  keep("cursor-keys", "ab".repeat(32));
  keep("secret-keys", "cd".repeat(32));
}, BUILD_WITHIN_MS);
afterAll(async () => {
  for (const run of started) await run.end("SIGKILL");
  image?.remove();
});

/** Stores a secret in the containers' secrets folder. */
function keep(name: string, text: string): void {
  writeFileSync(join(secrets, name), `${text}\n`);
  // The product runs as another user, and a temporary folder admits only its owner.
  chmodSync(secrets, 0o755);
}

const run = (command: readonly string[], env: Record<string, string> = {}) => {
  const one = runInImage(image, command, { env, secrets });
  started.push(one);
  return one;
};

const ends = async (command: readonly string[], env?: Record<string, string>) => {
  const { closed, output } = run(command, env);
  return { code: await closed, output: output() };
};

const DASHBOARD = "https://dash.example.com";
const CORE = {
  DATABASE_URL_FILE: "/run/secrets/database-url",
  CURSOR_KEYS_FILE: "/run/secrets/cursor-keys",
  SECRET_KEYS_FILE: "/run/secrets/secret-keys",
};

it("the image holds what production needs, and nothing of development", () => {
  const named = (path: string) => existsSync(join(image.app, "node_modules", path));
  const root = JSON.parse(readFileSync(join(image.app, "package.json"), "utf8"));
  const needed = ["proto", "runtime", "server", "gateway", "workflows"].flatMap((name) => {
    const { dependencies } = JSON.parse(
      readFileSync(join(image.app, name, "package.json"), "utf8"),
    );
    return Object.keys(dependencies);
  });
  expect(needed.filter((name) => !named(name))).toEqual([]);
  const development = Object.keys({ ...root.devDependencies, ...root.optionalDependencies });
  const left = development.filter((name) => !needed.includes(name) && named(name));
  // The product's own packages are links within the image. Some packages depend on types.
  expect(left.filter((name) => !/^@(activity|types)\//.test(name))).toEqual([]);
  for (const name of ["react", "vite", "fastify", "playwright-core", "express", "typescript"]) {
    expect(named(name)).toBe(false);
  }
  expect(existsSync(join(image.app, "LICENSE"))).toBe(true);
  expect(readdirSync(image.app)).not.toContain("test");
});

it("can write nowhere, and is not root", async () => {
  const script = `
    const fs = require("node:fs");
    const wrote = ["/app/x", "/app/node_modules/x", "/tmp/x", "/run/secrets/x", "/x"].filter((path) => {
      try { fs.writeFileSync(path, ""); return true; } catch { return false; }
    });
    console.log(process.getuid(), process.getgid(), wrote);
  `;
  expect((await ends(["-e", script])).output.trim()).toBe("1000 1000 []");
});

it("serves all in one process as another user on a read-only root, with secrets from files", async () => {
  const [core, gateway, health, dashboard] = await freePorts();
  const one = run(image.command, {
    ...CORE,
    CORE_PORT: core,
    GATEWAY_PORT: gateway,
    HEALTH_PORT: health,
    DASHBOARD_PORT: dashboard,
    DASHBOARD_URL: DASHBOARD,
    TEMPORAL_ADDRESS: temporal.address,
  });
  // By then the workflows are bundled and a worker polls.
  await one.untilSaid("deliveries run");
  expect((await requestOf(Number(gateway), "/api/v1/me", {})).status).toBe(401);
  const page = await requestOf(Number(dashboard), "/", {});
  expect(page.status).toBe(200);
  expect(page.text).toContain("<script");
  await expect.poll(() => ends(["tools/serve/probe.ts", health])).toMatchObject({ code: 0 });
  for (let count = 0; count < 2; count++) {
    await statusOf(gateway, "/api/v1/me", "203.0.113.9");
    await exchangeCode(dashboard, "203.0.113.9");
  }
  expect(await one.end()).toBe(0);
  // The gateway and the browsers' port each warn once about an unknown proxy, however many requests it forwards.
  expect(one.output().split(UNTRUSTED_PROXY)).toHaveLength(3);
  expect(await ends(["tools/serve/probe.ts", health])).toMatchObject({ code: 1 });
});

it("runs the three apart by its arguments, with the credentials that its own tool makes, behind a proxy", async () => {
  const [corePort, gatewayPort, health, dashboard] = await freePorts();
  const TRUSTED_PROXIES = "127.0.0.1/32";
  const core = run(["server/src/main.ts"], {
    ...{ ...CORE, CORE_PORT: corePort, TRUSTED_PROXIES },
    ...{ DASHBOARD_PORT: dashboard, DASHBOARD_URL: DASHBOARD },
  });
  await core.untilSaid("core listens");
  for (const [name, permission] of [
    ["gateway", "client_address.forward"],
    ["deliveries", "delivery.dispatch"],
  ] as const) {
    const create = ["create", "--days", "365", "--name", name, "--permission", permission];
    const { DATABASE_URL_FILE } = CORE;
    const made = await ends(["tools/service-credential.ts", ...create], { DATABASE_URL_FILE });
    keep(name, /^act_svc_[0-9a-f]{64}$/m.exec(made.output)?.[0] ?? made.output);
  }
  const CORE_URL = `http://127.0.0.1:${corePort}`;
  const gateway = run(["gateway/src/main.ts"], {
    CORE_URL,
    GATEWAY_CREDENTIAL_FILE: "/run/secrets/gateway",
    GATEWAY_PORT: gatewayPort,
    HEALTH_PORT: health,
    TRUSTED_PROXIES,
  });
  const deliveries = run(["workflows/src/main.ts"], {
    CORE_URL,
    CORE_CREDENTIAL_FILE: "/run/secrets/deliveries",
    TEMPORAL_ADDRESS: temporal.address,
  });
  await gateway.untilSaid("gateway listens");
  await deliveries.untilSaid("deliveries run");
  expect((await requestOf(Number(gatewayPort), "/api/v1/me", {})).status).toBe(401);
  await expect.poll(() => ends(["tools/serve/probe.ts", health])).toMatchObject({ code: 0 });
  // §8 A flood through the proxy limits only its own address.
  const askGateway = (address: string) => statusOf(gatewayPort, "/api/v1/me", address);
  const askDashboard = (address: string) => exchangeCode(dashboard, address);
  // Both ports share the count of an address.
  for (const [ask, address] of [
    [askGateway, "203.0.113.7"],
    [askDashboard, "203.0.113.17"],
  ] as const) {
    const flood = await Promise.all(Array.from({ length: 301 }, () => ask(address)));
    expect(flood.filter((status) => status === 429)).toHaveLength(1);
    expect(await ask("203.0.113.8")).not.toBe(429);
  }
  for (const one of [deliveries, gateway, core]) expect(await one.end()).toBe(0);
  for (const { output } of [core, gateway]) expect(output()).not.toContain(UNTRUSTED_PROXY);
});

/** Sends an anonymous request through a proxy. Returns its status. */
async function statusOf(port: string, path: string, address: string): Promise<number> {
  const headers = { "x-forwarded-for": address };
  return (await requestOf(Number(port), path, { headers })).status;
}

/** Sends a guessed code of a link, as a browser. Returns the status. */
async function exchangeCode(port: string, address: string): Promise<number> {
  const { status } = await fetch(
    `http://127.0.0.1:${port}/${SessionService.typeName}/${SessionService.method.exchangeCode.name}`,
    {
      method: "POST",
      headers: {
        ...{ "content-type": "application/json", "connect-protocol-version": "1" },
        ...{ origin: DASHBOARD, "sec-fetch-site": "same-origin", "x-forwarded-for": address },
      },
      body: '{"code":"guessed"}',
    },
  );
  return status;
}

async function freePorts(): Promise<[string, string, string, string]> {
  const port = async () => `${await findFreePort()}`;
  return [await port(), await port(), await port(), await port()];
}
