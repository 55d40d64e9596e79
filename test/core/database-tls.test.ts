import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AccountService, ApiKeyService } from "@activity/proto";
import { createServiceCredential, migrate, Permission } from "@activity/server";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import mysql from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningDatabase, startDatabase } from "../../dev-stack/src/database.ts";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { silentProgress } from "../../dev-stack/src/progress.ts";
import { createPool } from "../../server/src/database/pool.ts";
import { queryWithin } from "../../server/src/database/query-within.ts";
import { requestOf } from "../harness/http.ts";
import { untilListening } from "../harness/listening.ts";
import { startProgram } from "../start/harness-program.ts";

/** What the driver says of a certificate that it does not accept. */
const UNTRUSTED = "HANDSHAKE_SSL_ERROR";

let folder: string;
/** Takes connections with TLS only, with a certificate for `localhost` that `ca.pem` signed. */
let secure: RunningDatabase;
/** The same, with a certificate for another host. */
let elsewhere: RunningDatabase;
/** Knows no TLS. */
let plain: RunningDatabase;

const file = (name: string) => join(folder, name);

/** Makes an authority, or a certificate that one signed for a host, with its key beside it. */
function certify(name: string, host: string, ca?: string): void {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  const signer = ca ? ["-CA", file(`${ca}.pem`), "-CAkey", file(`${ca}.key`)] : [];
  const names = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${host}`];
  const files = ["-keyout", file(`${name}.key`), "-out", file(`${name}.pem`)];
  const args = ["req", "-x509", ...key, ...signer, ...names, ...files];
  execFileSync("openssl", args, { stdio: "pipe" });
}

const start = (name: string, ...serverOptions: string[]) =>
  startDatabase({
    // Of its own: the one that the run shares has no TLS to speak of.
    env: { ...process.env, DATABASE_URL: undefined },
    dataDir: file(name),
    progress: silentProgress,
    serverOptions,
    ephemeral: true,
  });

const showing = (certificate: string) => [
  `--ssl-cert=${file(`${certificate}.pem`)}`,
  `--ssl-key=${file(`${certificate}.key`)}`,
];

/** The server's URL with the name in its certificate, and what DATABASE_URL says of TLS. */
function urlOf(database: RunningDatabase, ca: string | undefined): string {
  const url = new URL(database.url);
  url.hostname = "localhost";
  url.searchParams.set("ssl-mode", "VERIFY_IDENTITY");
  if (ca !== undefined) url.searchParams.set("ssl-ca", file(ca));
  return url.href;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "activity-database-tls-"));
  certify("ca", "ca.example");
  certify("server", "localhost", "ca");
  certify("other-host", "other.example", "ca");
  certify("stranger", "stranger.example");
  secure = await start("secure", ...showing("server"), "--require-secure-transport=ON");
  elsewhere = await start("elsewhere", ...showing("other-host"));
  plain = await start("plain", secure.flavour === "mysql" ? "--tls-version=" : "--skip-ssl");
});
afterAll(async () => {
  await secure.stop();
  await elsewhere.stop();
  await plain.stop();
  rmSync(folder, { recursive: true });
});

describe("a database with TLS", () => {
  it("serves the whole product, each of whose connections is encrypted", async () => {
    // The server refuses all others, MySQL for the transport, MariaDB as if the password were wrong.
    const inPlainText = mysql.createConnection(secure.url);
    await expect(inPlainText).rejects.toThrow(/insecure transport|Access denied/);
    const url = urlOf(secure, "ca.pem");
    const [corePort, gatewayPort] = [await findFreePort(), await findFreePort()];
    const product = startProgram("tools/serve/serve.ts", {
      DATABASE_URL: url,
      CURSOR_KEYS: "ab".repeat(32),
      SECRET_KEYS: "cd".repeat(32),
      CORE_PORT: `${corePort}`,
      GATEWAY_PORT: `${gatewayPort}`,
      // Nobody is there: retries would wait.
      TEMPORAL_ADDRESS: "127.0.0.1:1",
    });
    try {
      await untilListening(product.child, gatewayPort);
      const credential = await createServiceCredential(url, "test", Object.values(Permission));
      const apiKey = await createReader(corePort, credential);
      for (const path of ["/api/v1/me", "/api/v1/activity"]) {
        expect(await requestOf(gatewayPort, path, { apiKey })).toMatchObject({ status: 200 });
      }
    } finally {
      product.child.kill("SIGKILL");
    }
  });

  it.each([
    ["whose certificate another authority signed", UNTRUSTED, () => urlOf(secure, "stranger.pem")],
    ["whose certificate no known authority signed", UNTRUSTED, () => urlOf(secure, undefined)],
    ["that has another host's certificate", UNTRUSTED, () => urlOf(elsewhere, "ca.pem")],
    ["that knows no TLS", "HANDSHAKE_NO_SSL_SUPPORT", () => urlOf(plain, "ca.pem")],
  ])("is wanted by a product that is told so: it refuses one %s", async (_, code, url) => {
    await expect(migrate(url())).rejects.toMatchObject({ code });
    const pool = createPool(url(), 1);
    await expect(queryWithin(pool, "SELECT 1", [])).rejects.toMatchObject({ code });
    await pool.end();
  });
});

/** Makes an account with a key at a core and returns the key. */
async function createReader(corePort: number, credential: string): Promise<string> {
  const transport = createGrpcTransport({
    baseUrl: `http://127.0.0.1:${corePort}`,
    interceptors: [
      (next) => (request) => {
        request.header.set("authorization", `Bearer ${credential}`);
        return next(request);
      },
    ],
  });
  const accounts = createClient(AccountService, transport);
  const names = { externalId: "one", username: "one", displayName: "One" };
  const { account } = await accounts.putAccount(names);
  const accountId = account?.id ?? "";
  await accounts.verifyAccount({ accountId });
  const keys = createClient(ApiKeyService, transport);
  return (await keys.createApiKey({ accountId, name: "test", validityDays: 30 })).secret;
}
