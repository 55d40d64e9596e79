import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DispatchService } from "@activity/proto";
import { Health } from "@activity/proto/infrastructure";
import {
  createServerApp,
  createServiceCredential,
  type Listener,
  Permission,
  readConfig,
  type ServerApp,
} from "@activity/server";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readProcessConfig } from "../../workflows/src/config.ts";
import { createCoreTransport } from "../../workflows/src/core-transport.ts";
import { unique } from "../harness/builders.ts";
import { createTestDatabase, type TestDatabase } from "../harness/database.ts";

let folder: string;
let database: TestDatabase;
let app: ServerApp;
let listener: Listener;

const file = (name: string) => join(folder, name);
const openssl = (...args: string[]) =>
  execFileSync("openssl", args, { cwd: folder, stdio: ["ignore", "ignore", "ignore"] });

/** Makes a CA, or a certificate that one signed, with its key beside it. */
function certify(name: string, subject: string, ca?: string): void {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  const names = ["-addext", "subjectAltName=IP:127.0.0.1"];
  const signer = ca ? ["-CA", `${ca}.pem`, "-CAkey", `${ca}.key`] : [];
  openssl(
    "req",
    "-x509",
    ...key,
    ...names,
    ...signer,
    "-subj",
    subject,
    "-keyout",
    `${name}.key`,
    "-out",
    `${name}.pem`,
  );
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "activity-tls-"));
  certify("ca", "/CN=Test CA");
  certify("core", "/CN=core", "ca");
  certify("caller", "/CN=caller", "ca");
  certify("stranger", "/CN=stranger");
  database = await createTestDatabase();
  const config = readConfig({
    DATABASE_URL: database.url,
    CURSOR_KEYS: "0".repeat(64),
    SECRET_KEYS: "1".repeat(64),
    CORE_PORT: "0",
    CORE_TLS_CERT: file("core.pem"),
    CORE_TLS_KEY: file("core.key"),
    CORE_TLS_CLIENT_CA: file("ca.pem"),
  });
  app = createServerApp(config, { info() {}, warn() {}, error() {} });
  listener = await app.listen();
});
afterAll(async () => {
  await listener.close();
  await app.close();
  await database.drop();
  rmSync(folder, { recursive: true });
});

function check(certificate?: string) {
  const transport = createGrpcTransport({
    baseUrl: `https://127.0.0.1:${listener.port}`,
    nodeOptions: {
      ca: readFileSync(file("ca.pem")),
      ...(certificate && {
        cert: readFileSync(file(`${certificate}.pem`)),
        key: readFileSync(file(`${certificate}.key`)),
      }),
    },
  });
  return createClient(Health, transport).check({});
}

describe("the core with mutual TLS", () => {
  it("serves a caller whose certificate its CA signed", async () => {
    expect(await check("caller")).toMatchObject({ status: 1 });
  });

  it("refuses a caller without one, and with another CA's", async () => {
    await expect(check()).rejects.toThrow();
    await expect(check("stranger")).rejects.toThrow();
  });

  it("serves the process that delivers with the files its variables name", async () => {
    const permissions = [Permission.DeliveryDispatch];
    const claimWith = async (env: Record<string, string>) => {
      const core = createCoreTransport(
        readProcessConfig({
          CORE_URL: `https://127.0.0.1:${listener.port}`,
          CORE_TLS_CA: file("ca.pem"),
          CORE_CREDENTIAL: await createServiceCredential(
            database.url,
            unique("worker"),
            permissions,
          ),
          ...env,
        }).core,
      );
      try {
        const call = { limit: 1, endpointLimit: 1 };
        return await createClient(DispatchService, core.transport).claimAttempts(call);
      } finally {
        core.close();
      }
    };
    const own = {
      CORE_TLS_CLIENT_CERT: file("caller.pem"),
      CORE_TLS_CLIENT_KEY: file("caller.key"),
    };
    expect(await claimWith(own)).toMatchObject({ attempts: [] });
    await expect(claimWith({})).rejects.toThrow();
  });
});
