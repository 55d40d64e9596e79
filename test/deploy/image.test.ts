import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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

/** Keeps a secret where the containers find theirs. */
function keep(name: string, text: string): void {
  writeFileSync(join(secrets, name), `${text}\n`);
  // A temporary folder lets its owner in only, and the product is another user.
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
  // The product's own packages are links to folders of the image; types come with packages that need them.
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
    DASHBOARD_URL: "https://dash.example.com",
    TEMPORAL_ADDRESS: temporal.address,
  });
  // The workflows are bundled by then, and a worker polls.
  await one.untilSaid("deliveries run");
  expect((await requestOf(Number(gateway), "/api/v1/me", {})).status).toBe(401);
  const page = await requestOf(Number(dashboard), "/", {});
  expect(page.status).toBe(200);
  expect(page.text).toContain("<script");
  await expect.poll(() => ends(["tools/serve/probe.ts", health])).toMatchObject({ code: 0 });
  expect(await one.end()).toBe(0);
  expect(await ends(["tools/serve/probe.ts", health])).toMatchObject({ code: 1 });
});

it("runs the three apart by its arguments, with the credentials that its own tool makes", async () => {
  const [corePort, gatewayPort, health] = await freePorts();
  const core = run(["server/src/main.ts"], { ...CORE, CORE_PORT: corePort });
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
  for (const one of [deliveries, gateway, core]) expect(await one.end()).toBe(0);
});

async function freePorts(): Promise<[string, string, string, string]> {
  const port = async () => `${await findFreePort()}`;
  return [await port(), await port(), await port(), await port()];
}
