import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Health } from "@activity/proto/infrastructure";
import { createServerApp, readConfig } from "@activity/server";
import { createClient } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { certify } from "../harness/certify.ts";
import { transportTo } from "../harness/clients.ts";
import { useTestDatabase } from "../harness/database.ts";
import { QUIET } from "../harness/quiet.ts";
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
  const app = createServerApp(config, QUIET);
  const listener = await app.listen();
  const stop = () => listener.close().then(() => app.close());
  return { url: `https://127.0.0.1:${listener.port}`, stop };
});

function check(certificate?: string) {
  const own = certificate && { cert: read(`${certificate}.pem`), key: read(`${certificate}.key`) };
  const transport = transportTo(core.url, {}, { nodeOptions: { ca: read("ca.pem"), ...own } });
  return createClient(Health, transport).check({});
}

/** `test/operating/rotation.test.ts` runs whole processes with mutual TLS. */
it("the core with mutual TLS serves only callers whose certificate its CA signed", async () => {
  // Polls, because the first connection to the database may take longer than a second, the limit of a health check.
  await expect.poll(() => check("caller")).toMatchObject({ status: 1 });
  await expect(check()).rejects.toThrow();
  await expect(check("stranger")).rejects.toThrow();
});
