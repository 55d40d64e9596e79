import { join } from "node:path";
import { createServiceCredential, migrate, Permission } from "@activity/server";
import mysql from "mysql2/promise";
import { describe, expect, it } from "vitest";
import { type RunningDatabase, startDatabase } from "../../dev-stack/src/database.ts";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { silentProgress } from "../../dev-stack/src/progress.ts";
import { createPool } from "../../server/src/database/pool.ts";
import { queryWithin } from "../../server/src/database/query-within.ts";
import { createReader } from "../harness/builders.ts";
import { certify } from "../harness/certify.ts";
import { clientsOf } from "../harness/clients.ts";
import { requestOf } from "../harness/http.ts";
import { untilListening } from "../harness/listening.ts";
import { useFolder, useStarted } from "../harness/use-started.ts";
import { usePrograms } from "../start/harness-program.ts";

/** What the driver says of a certificate that it does not accept. */
const UNTRUSTED = "HANDSHAKE_SSL_ERROR";

const folder = useFolder("database-tls");
const file = (name: string) => join(folder, name);
const startProgram = usePrograms();
certify(folder, "ca", "DNS:ca.example");
certify(folder, "server", "DNS:localhost", "ca");
certify(folder, "other-host", "DNS:other.example", "ca");
certify(folder, "stranger", "DNS:stranger.example");

const start = (name: string, serverOptions: () => string[]) =>
  useStarted(() =>
    startDatabase({
      // Of its own: the one that the run shares has no TLS to speak of.
      env: { ...process.env, DATABASE_URL: undefined },
      ...{ dataDir: file(name), progress: silentProgress, ephemeral: true },
      serverOptions: serverOptions(),
    }),
  );
const showing = (certificate: string) => [
  `--ssl-cert=${file(`${certificate}.pem`)}`,
  `--ssl-key=${file(`${certificate}.key`)}`,
];

/** Takes connections with TLS only, with a certificate for `localhost` that `ca.pem` signed. */
const secure = start("secure", () => [...showing("server"), "--require-secure-transport=ON"]);
/** The same, with a certificate for another host. */
const elsewhere = start("elsewhere", () => showing("other-host"));
/** Knows no TLS. */
const plain = start("plain", () => [secure.flavour === "mysql" ? "--tls-version=" : "--skip-ssl"]);

/** The server's URL with the name in its certificate, and what DATABASE_URL says of TLS. */
function urlOf(database: RunningDatabase, ca: string | undefined): string {
  const url = new URL(database.url);
  url.hostname = "localhost";
  url.searchParams.set("ssl-mode", "VERIFY_IDENTITY");
  if (ca !== undefined) url.searchParams.set("ssl-ca", file(ca));
  return url.href;
}

describe("a database with TLS", () => {
  it("serves the whole product, each of whose connections is encrypted", async () => {
    // The server refuses all others, MySQL for the transport, MariaDB as if the password were wrong.
    const inPlainText = mysql.createConnection(secure.url);
    await expect(inPlainText).rejects.toThrow(/insecure transport|Access denied/);
    const url = urlOf(secure, "ca.pem");
    const [corePort, gatewayPort] = [await findFreePort(), await findFreePort()];
    const { child } = startProgram("tools/serve/serve.ts", {
      ...{ DATABASE_URL: url, CURSOR_KEYS: "ab".repeat(32), SECRET_KEYS: "cd".repeat(32) },
      ...{ CORE_PORT: `${corePort}`, GATEWAY_PORT: `${gatewayPort}` },
      // Nobody is there: retries would wait.
      TEMPORAL_ADDRESS: "127.0.0.1:1",
    });
    await untilListening(child, gatewayPort);
    const credential = await createServiceCredential(url, "test", Object.values(Permission));
    const client = clientsOf(`http://127.0.0.1:${corePort}`, credential);
    const { apiKey } = await createReader({ client });
    for (const path of ["/api/v1/me", "/api/v1/activity"]) {
      expect(await requestOf(gatewayPort, path, { apiKey })).toMatchObject({ status: 200 });
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
