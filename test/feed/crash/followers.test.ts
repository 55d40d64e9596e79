import { randomBytes, randomInt } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { AccountService, ApiKeyService, Platform, PlatformEventService } from "@activity/proto";
import { createServiceCredential, migrate, Permission } from "@activity/server";
import type { DescService } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, it } from "vitest";
import { baseEnv } from "../../../dev-stack/src/base-env.ts";
import { findFreePort } from "../../../dev-stack/src/free-port.ts";
import { type Follower, follow, list } from "../../../feed/src/index.ts";
import { nodeVictim, type Victim } from "../../delivery/crash/harness-process.ts";
import { databaseVictim } from "../../delivery/crash/harness-servers.ts";
import { SIZE } from "../../delivery/crash/harness-size.ts";
import { unique } from "../../harness/builders.ts";

const ACCOUNTS = 5;
const WRITERS = 50;
/** Together they write 25 records a second: an account is read 120 times a minute. §8 */
const WRITER_PAUSE_MS = 2_000;
/** Few enough that followers stay within an account's limit. §8 */
const WRITTEN_PER_LIFE = 60;
/** Sooner than a follower asks that was told to wait for a minute. */
const WAKE_MS = 5_000;
const MINUTE_MS = 60_000;
const TIMEOUT_MS = 2 * SIZE.settleMinutes * MINUTE_MS;
const PATIENT = { timeout: TIMEOUT_MS, interval: 100 };
const SINCE = new Date("2020-01-01T00:00:00Z");

type Reader = { readonly accountId: string; readonly apiKey: string; readonly apiKeyId: string };
/** What one follower has processed, and how it ended. */
type Followed = { readonly ids: string[]; readonly ended: Promise<unknown> };

let folder: string;
let cores: readonly { readonly victim: Victim; readonly port: number }[];
let gateways: readonly { readonly victim: Victim; readonly port: number }[];
let credential: string;
const victims: Victim[] = [];
const stopped = new AbortController();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "activity-followers-"));
  const database = databaseVictim(join(folder, "database"));
  victims.push(database);
  await database.start();
  await migrate(database.address());
  credential = await createServiceCredential(database.address(), "test", Object.values(Permission));
  const keys = randomBytes(32).toString("hex");
  const coreEnv = { DATABASE_URL: database.address(), CURSOR_KEYS: keys, SECRET_KEYS: keys };
  cores = await Promise.all(
    ["core-1", "core-2"].map((name) => start(name, "server", "CORE_PORT", coreEnv)),
  );
  gateways = await Promise.all(
    cores.map(({ port }, place) =>
      start(`gateway-${place + 1}`, "gateway", "GATEWAY_PORT", {
        CORE_URL: `http://127.0.0.1:${port}`,
        GATEWAY_CREDENTIAL: credential,
        TRUSTED_PROXIES: "127.0.0.1/32",
      }),
    ),
  );
}, 5 * MINUTE_MS);
afterAll(async () => {
  stopped.abort();
  for (const victim of victims.toReversed()) if (victim.isRunning()) await victim.kill();
  await rm(folder, { recursive: true, force: true });
}, MINUTE_MS);

it(
  "followers through two gateways and two cores process each record once and in order, amid kills of all, and none of a revoked key. §4.4, §5.7, ADR 0052",
  async () => {
    const readers = await Promise.all(Array.from({ length: ACCOUNTS }, createReader));
    const revoked = await createReader();
    const followed = [...readers, revoked].map((reader) =>
      gateways.map(({ port }) => startFollower(reader, port)),
    );
    const last = followed.at(-1) ?? [];
    const kept = await writeOne(revoked);
    for (const { ids } of last) await expect.poll(() => ids, PATIENT).toEqual([kept]);

    const writing = startWriting(readers);
    for (let kills = 0; kills < SIZE.writes.kills; kills++) {
      for (const victim of victims) {
        const enough = writing.acknowledged() + randomInt(1, WRITTEN_PER_LIFE);
        await expect.poll(writing.acknowledged, PATIENT).toBeGreaterThanOrEqual(enough);
        await victim.kill();
        await victim.start();
      }
    }
    await writing.stop();

    await client(0, ApiKeyService).revokeApiKey(revoked);
    await writeOne(revoked);
    for (const { ids, ended } of last) {
      expect(await ended).toMatchObject({ code: "invalid_api_key" });
      expect(ids).toEqual([kept]);
    }
    for (const [place, reader] of readers.entries()) {
      const feed = await readFeed(reader);
      expect(feed.length).toBeGreaterThan(0);
      for (const { ids } of followed[place] ?? []) {
        await expect.poll(() => ids.length, PATIENT).toBeGreaterThanOrEqual(feed.length);
        expect(ids).toEqual(feed);
      }
    }
  },
  TIMEOUT_MS * (1 + SIZE.writes.kills),
);

async function start(
  name: string,
  part: "server" | "gateway",
  portName: string,
  env: Readonly<Record<string, string>>,
) {
  const port = await findFreePort();
  const victim = nodeVictim({
    script: `${part}/src/main.ts`,
    env: { ...baseEnv(), ...env, [portName]: `${port}` },
    logFile: join(folder, `${name}.log`),
    readyText: part === "server" ? "core listens" : "gateway listens",
  });
  victims.push(victim);
  await victim.start();
  return { victim, port };
}

function client<Service extends DescService>(place: number, service: Service) {
  return createClient(
    service,
    createGrpcTransport({
      baseUrl: `http://127.0.0.1:${cores[place]?.port}`,
      interceptors: [
        (next) => (request) => {
          request.header.set("authorization", `Bearer ${credential}`);
          return next(request);
        },
      ],
    }),
  );
}

async function createReader(): Promise<Reader> {
  const accounts = client(0, AccountService);
  const names = { username: unique("user"), displayName: "Streamer" };
  const { account } = await accounts.putAccount({ externalId: unique("account"), ...names });
  const accountId = account?.id ?? "";
  await accounts.verifyAccount({ accountId });
  const key = { accountId, name: "test", validityDays: 30 };
  const { apiKey, secret } = await client(0, ApiKeyService).createApiKey(key);
  return { accountId, apiKey: secret, apiKeyId: apiKey?.id ?? "" };
}

/** Each follower is a client of its own: all together would be over one client's limit. §8 */
function connection({ apiKey }: Reader, port: number) {
  const address = `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
  const fetchFrom: typeof fetch = (url, init) =>
    fetch(url, { ...init, headers: { ...init?.headers, "x-forwarded-for": address } });
  return { apiKey, baseUrl: `http://127.0.0.1:${port}/api/v1`, fetch: fetchFrom };
}

function startFollower(reader: Reader, port: number): Followed {
  const ids: string[] = [];
  const { signal } = stopped;
  const follower = follow({ ...connection(reader, port), since: SINCE, signal });
  const waking = setInterval(() => follower.wake(), WAKE_MS);
  signal.addEventListener("abort", () => clearInterval(waking));
  const ended = process(follower, ids).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { ids, ended };
}

async function process(follower: Follower, ids: string[]): Promise<void> {
  for await (const { id } of follower) ids.push(id);
}

/** Reads a whole feed, oldest first. */
async function readFeed(reader: Reader): Promise<string[]> {
  const ids: string[] = [];
  const until = new Date(Date.now() + MINUTE_MS);
  const options = { ...connection(reader, gateways[0]?.port ?? 0), since: SINCE, until };
  for await (const { id } of list(options)) ids.push(id);
  return ids;
}

/** Stores a follow, however often a core or the database dies meanwhile; returns its public id. */
async function writeOne({ accountId }: Reader): Promise<string> {
  const event = {
    ...{ accountId, platform: Platform.LIVE_PLATFORM_1, externalId: unique("follow") },
    kind: { case: "follow" as const, value: {} },
  };
  for (;;) {
    const events = client(randomInt(cores.length), PlatformEventService);
    const answer = await events
      .recordPlatformEvent(event, { timeoutMs: 10_000 })
      .catch(() => undefined);
    if (answer?.platformEvent !== undefined) return `evt_${answer.platformEvent.recordId}`;
  }
}

function startWriting(readers: readonly Reader[]) {
  let acknowledged = 0;
  let isOver = false;
  const writers = Array.from({ length: WRITERS }, async (_, place) => {
    const reader = readers[place % readers.length];
    while (!isOver && reader !== undefined) {
      await writeOne(reader);
      acknowledged += 1;
      await wait(WRITER_PAUSE_MS);
    }
  });
  return {
    acknowledged: () => acknowledged,
    async stop() {
      isOver = true;
      await Promise.all(writers);
    },
  };
}
