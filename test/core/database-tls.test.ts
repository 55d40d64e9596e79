import { join } from "node:path";
import { migrate } from "@activity/server";
import { describe, expect, it } from "vitest";
import { type RunningDatabase, startDatabase } from "../../dev-stack/src/database.ts";
import { silentProgress } from "../../dev-stack/src/progress.ts";
import { createPool } from "../../server/src/database/pool.ts";
import { queryWithin } from "../../server/src/database/query-within.ts";
import { certify } from "../harness/certify.ts";
import { useFolder, useStarted } from "../harness/use-started.ts";

/** The driver's error code for a certificate that it does not accept. */
const UNTRUSTED = "HANDSHAKE_SSL_ERROR";

const folder = useFolder("database-tls");
const file = (name: string) => join(folder, name);
certify(folder, "ca", "DNS:ca.example");
certify(folder, "server", "DNS:localhost", "ca");
certify(folder, "other-host", "DNS:other.example", "ca");
certify(folder, "stranger", "DNS:stranger.example");

const start = (name: string, serverOptions: () => string[]) =>
  useStarted(() =>
    startDatabase({
      // Starts an own server, because the shared one has no TLS.
      env: { ...process.env, DATABASE_URL: undefined },
      ...{ dataDir: file(name), progress: silentProgress, ephemeral: true },
      serverOptions: serverOptions(),
    }),
  );
const showing = (certificate: string) => [
  `--ssl-cert=${file(`${certificate}.pem`)}`,
  `--ssl-key=${file(`${certificate}.key`)}`,
];

/** A server with a certificate for `localhost` that `ca.pem` signed. */
const secure = start("secure", () => showing("server"));
/** A server whose certificate names another host. */
const elsewhere = start("elsewhere", () => showing("other-host"));
/** A server without TLS. */
const plain = start("plain", () => [secure.flavour === "mysql" ? "--tls-version=" : "--skip-ssl"]);

/** The server's URL with the host of its certificate and the TLS parameters of DATABASE_URL. */
function urlOf(database: RunningDatabase, ca: string | undefined): string {
  const url = new URL(database.url);
  url.hostname = "localhost";
  url.searchParams.set("ssl-mode", "VERIFY_IDENTITY");
  if (ca !== undefined) url.searchParams.set("ssl-ca", file(ca));
  return url.href;
}

/** `test/operating/rotation.test.ts` runs the whole product on a database that accepts only TLS. */
describe("a database with TLS", () => {
  it.each([
    ["whose certificate another authority signed", UNTRUSTED, () => urlOf(secure, "stranger.pem")],
    ["whose certificate no known authority signed", UNTRUSTED, () => urlOf(secure, undefined)],
    ["that has another host's certificate", UNTRUSTED, () => urlOf(elsewhere, "ca.pem")],
    ["without TLS", "HANDSHAKE_NO_SSL_SUPPORT", () => urlOf(plain, "ca.pem")],
  ])("is required by ssl-mode=VERIFY_IDENTITY, which refuses one %s", async (_, code, url) => {
    await expect(migrate(url())).rejects.toMatchObject({ code });
    const pool = createPool(url(), 1);
    await expect(queryWithin(pool, "SELECT 1", [])).rejects.toMatchObject({ code });
    await pool.end();
  });
});
