import { join } from "node:path";
import { migrate } from "@activity/server";
import { afterAll, expect, it } from "vitest";
import { type RunningDatabase, startDatabase } from "../../dev-stack/src/database.ts";
import { silentProgress } from "../../dev-stack/src/progress.ts";
import { createPool } from "../../server/src/database/pool.ts";
import { queryWithin } from "../../server/src/database/query-within.ts";
import { certify } from "../harness/certify.ts";
import { useFolder } from "../harness/use-started.ts";

/** The driver's error code for a certificate that it does not accept. */
const UNTRUSTED = "HANDSHAKE_SSL_ERROR";

const folder = useFolder("database-tls");
const file = (name: string) => join(folder, name);
certify(folder, "ca", "DNS:ca.example");
certify(folder, "server", "DNS:localhost", "ca");
certify(folder, "other-host", "DNS:other.example", "ca");
certify(folder, "stranger", "DNS:stranger.example");

let database: RunningDatabase | undefined;
afterAll(() => database?.stop());

/** Restarts the server with a certificate, or without TLS. Returns its URL with the host `localhost`. */
async function serve(certificate: string | undefined): Promise<URL> {
  const isMysql = database?.flavour === "mysql";
  await database?.stop();
  database = await startDatabase({
    // Starts a separate server, because the shared one has no TLS.
    env: { ...process.env, DATABASE_URL: undefined },
    ...{ dataDir: file("database"), progress: silentProgress, ephemeral: true },
    serverOptions: certificate
      ? [`--ssl-cert=${file(`${certificate}.pem`)}`, `--ssl-key=${file(`${certificate}.key`)}`]
      : [isMysql ? "--tls-version=" : "--skip-ssl"],
  });
  const url = new URL(database.url);
  url.hostname = "localhost";
  return url;
}

/** `test/operating/rotation.test.ts` runs the whole product on a database that accepts only TLS. */
it.each([
  ["whose certificate another authority signed", "server", "stranger.pem", UNTRUSTED],
  ["whose certificate no known authority signed", "server", undefined, UNTRUSTED],
  ["that has another host's certificate", "other-host", "ca.pem", UNTRUSTED],
  ["without TLS", undefined, "ca.pem", "HANDSHAKE_NO_SSL_SUPPORT"],
])(
  "a database with TLS is required by ssl-mode=VERIFY_IDENTITY, which refuses one %s",
  async (_, shown, ca, code) => {
    const url = await serve(shown);
    url.searchParams.set("ssl-mode", "VERIFY_IDENTITY");
    if (ca !== undefined) url.searchParams.set("ssl-ca", file(ca));
    await expect(migrate(url.href)).rejects.toMatchObject({ code });
    const pool = createPool(url.href, 1);
    await expect(queryWithin(pool, "SELECT 1", [])).rejects.toMatchObject({ code });
    await pool.end();
  },
);
