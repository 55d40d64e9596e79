import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createServiceCredential, migrate, Permission } from "@activity/server";
import { beforeAll, expect, it } from "vitest";
import { startDatabase } from "../../dev-stack/src/database.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { ROOT } from "../architecture/import-rule.ts";
import { answer } from "../delivery/harness-receiver-behaviours.ts";
import { baseEnv } from "../harness/base-env.ts";
import { createPlatformEvent, createReader } from "../harness/builders.ts";
import { certify } from "../harness/certify.ts";
import { clientsOf } from "../harness/clients.ts";
import { useTestDatabase } from "../harness/database.ts";
import { requestOf } from "../harness/http.ts";
import type { PageJson } from "../harness/json.ts";
import { sendToRedis, startTestRedis } from "../harness/redis.ts";
import { withClientAddress } from "../harness/stack.ts";
import { useTemporal } from "../harness/temporal.ts";
import { useFolder, useStarted } from "../harness/use-started.ts";
import { createFront } from "./harness-front.ts";
import { useParts, useTrustedReceiver } from "./harness-parts.ts";
import { startStories } from "./harness-stories.ts";
import { openTemporalDoor } from "./harness-temporal-door.ts";

/** The number of stories before each change and after the last. */
const STORIES = 1;
const [OLD, NEW] = ["old", "new"] as const;
type Age = typeof OLD | typeof NEW;
type Secret = Readonly<Record<Age, string>>;
const NAMES = "IP:127.0.0.1,DNS:localhost";

/** The files that each process reads at its start. */
const secrets = useFolder("secrets");
const fileOf = (name: string) => join(secrets, name);
const write = (name: string, text: string) => writeFileSync(fileOf(name), `${text}\n`);
const read = (name: string) => readFileSync(fileOf(name), "utf8");

const ofBothAges = (make: () => string) => ({ [OLD]: make(), [NEW]: make() });
const [CURSOR_KEY, SECRET_KEY, PASSWORD, API_KEY] = [1, 2, 3, 4].map(() =>
  ofBothAges(() => randomBytes(32).toString("hex")),
) as [Secret, Secret, Secret, Secret];
/** Two users, one for each password, because MariaDB keeps one password for a user name. */
const USER = ofBothAges(() => `u${randomBytes(6).toString("hex")}`);
const credentials: Record<string, string> = {};

beforeAll(() => {
  for (const age of [OLD, NEW]) {
    certify(secrets, `ca-${age}`, NAMES);
    certify(secrets, `tls-${age}`, NAMES, `ca-${age}`);
  }
  useCertificates(OLD, OLD);
});
/** A separate server, because the test changes its certificates. */
const databaseServer = useStarted(() =>
  startDatabase({
    env: { ...process.env, DATABASE_URL: undefined },
    ...{ dataDir: fileOf("database"), progress: createProgress(), ephemeral: true },
    serverOptions: [`--ssl-cert=${fileOf("tls.pem")}`, `--ssl-key=${fileOf("tls.key")}`],
  }),
);
const database = useTestDatabase({}, () => databaseServer.url);
const redis = useStarted(startTestRedis);
const temporal = useTemporal(secrets);
const door = useStarted(() => openTemporalDoor(temporal.address, tls()));
const trusted = useTrustedReceiver(secrets, answer(200));
const start = useParts();
let shared: Record<string, string>;

function useCertificates(age: Age, ...trusted: Age[]): void {
  write("ca.pem", trusted.map((each) => read(`ca-${each}.pem`)).join("\n"));
  for (const form of ["pem", "key"]) write(`tls.${form}`, read(`tls-${age}.${form}`));
}
/** Makes the servers that are not restarted reload their certificates. */
async function showCertificates(): Promise<void> {
  door.setTls(tls());
  const isMysql = databaseServer.flavour === "mysql";
  await database.query(isMysql ? "ALTER INSTANCE RELOAD TLS" : "FLUSH SSL");
}
const tls = () => ({ ca: read("ca.pem"), cert: read("tls.pem"), key: read("tls.key") });

/** Changes the passwords of Redis. A rule adds a password after `>`, or removes one after `<`. */
const setRedisUser = (url: string, ...rules: string[]) =>
  sendToRedis(url, "ACL", "SETUSER", "default", ...rules);

async function createUser(age: Age): Promise<void> {
  const { pathname } = new URL(database.url);
  await database.query(`CREATE USER ${USER[age]}@'%' IDENTIFIED BY '${PASSWORD[age]}' REQUIRE SSL`);
  await database.query(`GRANT ALL PRIVILEGES ON ${pathname.slice(1)}.* TO ${USER[age]}@'%'`);
}
function databaseUrlOf(age: Age, ca = "ca"): string {
  const url = new URL(database.url);
  url.username = USER[age];
  url.password = PASSWORD[age];
  url.hostname = "localhost";
  url.searchParams.set("ssl-mode", "VERIFY_IDENTITY");
  url.searchParams.set("ssl-ca", fileOf(`${ca}.pem`));
  return url.href;
}
const redisUrlOf = (age: Age) => redis.url.replace("redis://", `redis://default:${PASSWORD[age]}@`);

async function createCredentials(age: Age): Promise<void> {
  const create = (name: string, ...permissions: Permission[]) =>
    createServiceCredential(database.url, `${name}-${age}`, permissions);
  credentials[age] = await create("all", ...Object.values(Permission));
  write(`gateway-credential-${age}`, await create("gateway", Permission.ClientAddressForward));
  write(`core-credential-${age}`, await create("deliveries", Permission.DeliveryDispatch));
}

/** Writes the secret files that have one value, not a list. */
function useSecretsOf(age: Age): void {
  write("database-url", databaseUrlOf(age));
  write("redis-url", redisUrlOf(age));
  write("temporal-api-key", API_KEY[age]);
  for (const name of ["gateway-credential", "core-credential"]) {
    write(name, read(`${name}-${age}`).trim());
  }
}
function useKeys(...ages: Age[]): void {
  write("cursor-keys", ages.map((age) => CURSOR_KEY[age]).join(","));
  write("secret-keys", ages.map((age) => SECRET_KEY[age]).join(","));
}

const runTool = (...args: string[]) =>
  execFileSync(process.execPath, args, {
    ...{ cwd: ROOT, env: { ...baseEnv(), ...shared }, encoding: "utf8", stdio: "pipe" },
  });

beforeAll(async () => {
  door.takeKeys(API_KEY[OLD]);
  await createUser(OLD);
  await setRedisUser(redis.url, "resetpass", `>${PASSWORD[OLD]}`);
  await createCredentials(OLD);
  useSecretsOf(OLD);
  useKeys(OLD);
  const files = ["DATABASE_URL", "REDIS_URL", "CURSOR_KEYS", "SECRET_KEYS", "TEMPORAL_API_KEY"];
  const named = [...files, "GATEWAY_CREDENTIAL", "CORE_CREDENTIAL"].map((name) => [
    `${name}_FILE`,
    fileOf(name.toLowerCase().replaceAll("_", "-")),
  ]);
  const [ca, cert, key] = [fileOf("ca.pem"), fileOf("tls.pem"), fileOf("tls.key")];
  shared = {
    ...{ ...Object.fromEntries(named), ...trusted.trusting, TRUSTED_PROXIES: "127.0.0.1/32" },
    ...{ CORE_PORT: "0", GATEWAY_PORT: "0", TEMPORAL_ADDRESS: door.address },
    ...{ CORE_TLS_CERT: cert, CORE_TLS_KEY: key, CORE_TLS_CLIENT_CA: ca, CORE_TLS_CA: ca },
    ...{ CORE_TLS_CLIENT_CERT: cert, CORE_TLS_CLIENT_KEY: key },
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: ca,
    ...{ TEMPORAL_TLS_CLIENT_CERT_PATH: cert, TEMPORAL_TLS_CLIENT_KEY_PATH: key },
    // With this setting every delivery needs Temporal.
    DELIVERY_WORKFLOWS: "all",
  };
}, 300_000);

type Side = Awaited<ReturnType<typeof startSide>>;

/** Starts a core with its own gateway and deliveries. One side restarts while the other serves. */
async function startSide() {
  const core = await start("core", shared);
  const env = { ...shared, CORE_URL: `https://127.0.0.1:${core.port}` };
  const [gateway, deliveries] = await Promise.all([
    start("gateway", env),
    start("deliveries", env),
  ]);
  return { core, gateway, deliveries };
}

it("rotates every secret of two instances under load without a failed request or attempt, and the old secrets stop working. docs/operating.md", async () => {
  const [cores, gateways] = [createFront(), createFront()];
  const sides: Side[] = [];
  const add = async () => {
    const side = await startSide();
    cores.add(side.core.port);
    gateways.add(side.gateway.port);
    sides.push(side);
  };
  await Promise.all([add(), add()]);
  let age: Age = OLD;
  const credential = () => credentials[age] ?? "";
  const { receiver } = trusted;
  const stories = startStories({ cores, gateways, receiver, credential, tls });

  const end = async ({ core, gateway, deliveries }: Side) => {
    await Promise.all([gateways.remove(gateway.port).then(gateway.stop), deliveries.stop()]);
    await cores.remove(core.port);
    await core.stop();
  };
  const restartInTurn = async () => {
    for (const side of sides.splice(0)) {
      await stories.more(STORIES);
      // Meanwhile another side starts at other ports.
      await Promise.all([end(side), add()]);
    }
    await stories.more(STORIES);
  };

  const apiKey = await createPolled(sides[0]?.core.port ?? 0, credential());
  const get = (path: string) =>
    gateways.use((port) => requestOf(port, path, withClientAddress({ apiKey })));
  const PAGE = "/api/v1/activity?order=asc&limit=1";
  const { pagination } = (await get(PAGE)).json<PageJson>();
  const next = () => get(`${PAGE}&cursor=${pagination.next_cursor}`);

  // From now on both secrets are valid on both sides of every connection. The old keys still encrypt and sign.
  await createUser(NEW);
  await setRedisUser(redisUrlOf(OLD), `>${PASSWORD[NEW]}`);
  await createCredentials(NEW);
  door.takeKeys(API_KEY[OLD], API_KEY[NEW]);
  useCertificates(OLD, OLD, NEW);
  await showCertificates();
  useSecretsOf(NEW);
  useKeys(OLD, NEW);
  await restartInTurn();
  age = NEW;

  // No process uses the old value of a single-value secret any more, so the old values end.
  await stories.more(STORIES);
  await database.query(`DROP USER ${USER[OLD]}@'%'`);
  await setRedisUser(redisUrlOf(NEW), `<${PASSWORD[OLD]}`);
  door.takeKeys(API_KEY[NEW]);
  for (const name of ["all", "gateway", "deliveries"]) {
    runTool("tools/service-credential.ts", "revoke", `${name}-${OLD}`);
  }

  // The new keys encrypt and sign. Servers present the new certificates.
  useCertificates(NEW, OLD, NEW);
  await showCertificates();
  useKeys(NEW, OLD);
  await restartInTurn();
  expect((await next()).status).toBe(200);
  const id = createHash("sha256").update(Buffer.from(SECRET_KEY[OLD], "hex")).digest("hex");
  const reencrypted = runTool("tools/reencrypt-secrets.ts", "--drop", id.slice(0, 8));
  expect(reencrypted).toContain("0 left under");

  // Removes the old certificates and keys.
  useCertificates(NEW, NEW);
  await showCertificates();
  useKeys(NEW);
  await restartInTurn();
  await stories.stop();
  expect((await next()).json()).toMatchObject({ error: { code: "invalid_cursor" } });
  await expect(migrate(databaseUrlOf(OLD))).rejects.toThrow(/denied/);
  await expect(migrate(databaseUrlOf(NEW, `ca-${OLD}`))).rejects.toThrow("certificate");
  const withOld = createPolled(sides[0]?.core.port ?? 0, credentials[OLD] ?? "");
  await expect(withOld).rejects.toThrow("unauthenticated");
  const texts = [CURSOR_KEY, SECRET_KEY, PASSWORD, API_KEY, credentials].flatMap(Object.values);
  for (const part of start.parts) {
    expect(part.output()).not.toContain('"level":"error"');
    for (const text of texts) expect(part.output()).not.toContain(text);
  }
}, 540_000);

/** Creates an account with two records and a key. Returns the key. */
async function createPolled(port: number, credential: string): Promise<string> {
  const client = clientsOf(`https://127.0.0.1:${port}`, credential, { nodeOptions: tls() });
  const { accountId, apiKey } = await createReader({ client });
  for (const _ of [1, 2]) await createPlatformEvent({ client }, accountId);
  return apiKey;
}
