import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DispatchService } from "@activity/proto";
import { Health } from "@activity/proto/infrastructure";
import { createServerApp, createServiceCredential, Permission, readConfig } from "@activity/server";
import { createClient } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { readProcessConfig } from "../../workflows/src/config.ts";
import { createCoreTransport } from "../../workflows/src/core-transport.ts";
import { unique } from "../harness/builders.ts";
import { certify } from "../harness/certify.ts";
import { transportTo } from "../harness/clients.ts";
import { useTestDatabase } from "../harness/database.ts";
import { useFolder, useStarted } from "../harness/use-started.ts";

const folder = useFolder("tls");
const file = (name: string) => join(folder, name);
const read = (name: string) => readFileSync(file(name));

const database = useTestDatabase();
const core = useStarted(async () => {
  certify(folder, "ca", "DNS:ca.example");
  for (const name of ["core", "caller"]) certify(folder, name, "IP:127.0.0.1", "ca");
  certify(folder, "stranger", "IP:127.0.0.1");
  const config = readConfig({
    ...{ DATABASE_URL: database.url, CORE_PORT: "0" },
    ...{ CURSOR_KEYS: "0".repeat(64), SECRET_KEYS: "1".repeat(64) },
    ...{ CORE_TLS_CERT: file("core.pem"), CORE_TLS_KEY: file("core.key") },
    CORE_TLS_CLIENT_CA: file("ca.pem"),
  });
  const app = createServerApp(config, { info() {}, warn() {}, error() {} });
  const listener = await app.listen();
  const stop = () => listener.close().then(() => app.close());
  return { url: `https://127.0.0.1:${listener.port}`, stop };
});

function check(certificate?: string) {
  const own = certificate && {
    cert: read(`${certificate}.pem`),
    key: read(`${certificate}.key`),
  };
  const transport = transportTo(core.url, {}, { nodeOptions: { ca: read("ca.pem"), ...own } });
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
    const claimWith = async (env: Record<string, string>) => {
      const may = [Permission.DeliveryDispatch];
      const { transport, close } = createCoreTransport(
        readProcessConfig({
          ...{ CORE_URL: core.url, CORE_TLS_CA: file("ca.pem"), ...env },
          CORE_CREDENTIAL: await createServiceCredential(database.url, unique("worker"), may),
        }).core,
      );
      const call = { limit: 1, endpointLimit: 1 };
      return createClient(DispatchService, transport).claimAttempts(call).finally(close);
    };
    const own = {
      CORE_TLS_CLIENT_CERT: file("caller.pem"),
      CORE_TLS_CLIENT_KEY: file("caller.key"),
    };
    expect(await claimWith(own)).toMatchObject({ attempts: [] });
    await expect(claimWith({})).rejects.toThrow();
  });
});
