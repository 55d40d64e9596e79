import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SessionService } from "@activity/proto";
import { UNTRUSTED_PROXY } from "@activity/runtime/client-address";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findFreePorts } from "../../dev-stack/src/free-port.ts";
import { useTestDatabase } from "../harness/database.ts";
import { requestOf } from "../harness/http.ts";
import { useTemporal } from "../harness/temporal.ts";
import { useFolder } from "../harness/use-started.ts";
import { useRuns } from "../start/harness-program.ts";
import { buildImage, type Image, runInImage } from "./harness-image.ts";

const folder = useFolder("deploy");
const secrets = useFolder("secrets");
const database = useTestDatabase();
const temporal = useTemporal(folder);
let image: Image;
afterAll(() => image?.remove());
const run = useRuns((command: readonly string[], env: Record<string, string>) =>
  runInImage(image, command, { env, secrets }),
);
beforeAll(() => {
  image = buildImage();
  keep("database-url", database.url);
  keep("cursor-keys", "ab".repeat(32));
  keep("secret-keys", "cd".repeat(32));
}, 540_000);

/** Stores a secret in the containers' secrets folder. */
function keep(name: string, text: string): void {
  writeFileSync(join(secrets, name), `${text}\n`);
  // Admits the user of the product, because a temporary folder admits only its owner.
  chmodSync(secrets, 0o755);
}

const ends = async (command: readonly string[], env: Record<string, string> = {}) => {
  const { closed, output } = run(command, env);
  return { code: await closed, output: output() };
};

/** Asks a process for its health, as a container's probe does. */
const probe = (port: number) => ends(["tools/serve/probe.ts", `${port}`]);

const DASHBOARD = "https://dash.example.com";
const CORE = {
  DATABASE_URL_FILE: "/run/secrets/database-url",
  CURSOR_KEYS_FILE: "/run/secrets/cursor-keys",
  SECRET_KEYS_FILE: "/run/secrets/secret-keys",
};

it("the image holds what production needs, and nothing of development", () => {
  const isThere = (name: string) => existsSync(join(image.app, "node_modules", name));
  const read = (name: string) =>
    JSON.parse(readFileSync(join(image.app, name, "package.json"), "utf8"));
  const packages = ["proto", "runtime", "server", "gateway", "workflows"];
  const needed = packages.flatMap((name) => Object.keys(read(name).dependencies));
  expect(needed.filter((name) => !isThere(name))).toEqual([]);
  const { devDependencies, optionalDependencies } = read(".");
  const development = Object.keys({ ...devDependencies, ...optionalDependencies });
  const left = development.filter((name) => !needed.includes(name) && isThere(name));
  // Two scopes may stay: the product's own packages are links within the image, and some packages depend on types.
  expect(left.filter((name) => !/^@(activity|types)\//.test(name))).toEqual([]);
  const others = ["react", "vite", "fastify", "playwright-core", "express", "typescript"];
  expect(others.filter(isThere)).toEqual([]);
  expect(existsSync(join(image.app, "LICENSE"))).toBe(true);
  expect(readdirSync(image.app)).not.toContain("test");
});

it("the image's processes can write no file and do not run as root", async () => {
  const script = `
    const fs = require("node:fs");
    const existing = ["/app/package.json", "/app/server/src/main.ts"];
    const created = ["/app/x", "/app/node_modules/x", "/tmp/x", "/run/secrets/x", "/x"];
    const wrote = [...existing, ...created].filter((path) => {
      try { fs.appendFileSync(path, ""); return true; } catch { return false; }
    });
    console.log(process.getuid(), process.getgid(), wrote);
  `;
  expect((await ends(["-e", script])).output.trim()).toBe("1000 1000 []");
});

it("the image's processes end at a signal while they load, and have public CAs for Temporal's client", async () => {
  const script = `
    const pem = require("node:fs").readFileSync(process.env.SSL_CERT_FILE, "utf8");
    console.log(process.listenerCount("SIGTERM"), pem.split("BEGIN CERTIFICATE").length > 100);
  `;
  expect((await ends(["-e", script])).output.trim()).toBe("1 true");
});

it("serves all in one process as another user on a read-only root, with secrets from files", async () => {
  const [core = 0, gateway = 0, health = 0, dashboard = 0] = await findFreePorts(4);
  const one = run(image.command, {
    ...{ ...CORE, CORE_PORT: `${core}`, GATEWAY_PORT: `${gateway}`, HEALTH_PORT: `${health}` },
    ...{ DASHBOARD_PORT: `${dashboard}`, DASHBOARD_URL: DASHBOARD },
    TEMPORAL_ADDRESS: temporal.address,
  });
  // Once it logs this, the workflows are bundled and a worker polls.
  await one.untilSaid("deliveries run");
  expect((await requestOf(gateway, "/api/v1/me", {})).status).toBe(401);
  const page = await requestOf(dashboard, "/", {});
  expect(page.status).toBe(200);
  expect(page.text).toContain("<script");
  await expect.poll(() => probe(health)).toMatchObject({ code: 0 });
  const forwarded = { "x-forwarded-for": "203.0.113.9" };
  const call = `/${SessionService.typeName}/${SessionService.method.exchangeCode.name}`;
  const ofPage = { origin: DASHBOARD, "sec-fetch-site": "same-origin", ...forwarded };
  const headers = {
    ...ofPage,
    "content-type": "application/json",
    "connect-protocol-version": "1",
  };
  for (let count = 0; count < 2; count++) {
    await requestOf(gateway, "/api/v1/me", { headers: forwarded });
    await requestOf(dashboard, call, { method: "POST", headers, body: '{"code":"guessed"}' });
  }
  expect(await one.end()).toBe(0);
  // The gateway and the browsers' port each warn once about an unknown proxy, for any number of forwarded requests.
  expect(one.output().split(UNTRUSTED_PROXY)).toHaveLength(3);
  expect(await probe(health)).toMatchObject({ code: 1 });
});

it("runs core, gateway and deliveries apart by its arguments, with the credentials that its own tool creates", async () => {
  const [corePort = 0, gatewayPort = 0, health = 0] = await findFreePorts(3);
  const core = run(["server/src/main.ts"], { ...CORE, CORE_PORT: `${corePort}` });
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
    ...{ CORE_URL, GATEWAY_CREDENTIAL_FILE: "/run/secrets/gateway" },
    ...{ GATEWAY_PORT: `${gatewayPort}`, HEALTH_PORT: `${health}` },
  });
  const deliveries = run(["workflows/src/main.ts"], {
    ...{ CORE_URL, CORE_CREDENTIAL_FILE: "/run/secrets/deliveries" },
    TEMPORAL_ADDRESS: temporal.address,
  });
  await gateway.untilSaid("gateway listens");
  await deliveries.untilSaid("deliveries run");
  expect((await requestOf(gatewayPort, "/api/v1/me", {})).status).toBe(401);
  await expect.poll(() => probe(health)).toMatchObject({ code: 0 });
  for (const one of [deliveries, gateway, core]) expect(await one.end()).toBe(0);
});
