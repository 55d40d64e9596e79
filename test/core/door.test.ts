import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { AccountService } from "@activity/proto";
import { REFUSAL_DELAY_MS } from "@activity/runtime/refused-clients";
import { createServiceCredential, Permission } from "@activity/server";
import { type Client, ConnectError, createClient } from "@connectrpc/connect";
import {
  compressionGzip,
  createGrpcTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServedProcess, serveProcess } from "../../bench/sides/served-process.ts";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { createTestDatabase, type TestDatabase } from "../harness/database.ts";
import { DOOR_ATTACKS, type DoorAttack, MADE_UP_AT_ONCE } from "./harness-door-attacks.ts";

const CALLERS = 40;
const CALLS_EACH = 10;
const SPREAD_MS = 3_000;
const AHEAD_MS = 1_000;
const MAX_GROWTH_MB = 32;

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

let database: TestDatabase;
let core: ServedProcess;
let port: number;
let credential: string;
let accountId: string;
const sessions: Http2SessionManager[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  port = await findFreePort();
  core = await serveProcess({
    name: "door",
    file: file("../../server/src/main.ts"),
    flags: ["--max-semi-space-size=8"],
    serves: { port },
    env: {
      DATABASE_URL: database.url,
      CURSOR_KEYS: randomBytes(32).toString("hex"),
      SECRET_KEYS: randomBytes(32).toString("hex"),
      CORE_PORT: `${port}`,
    },
    profileFolder: undefined,
  });
  credential = await createServiceCredential(database.url, "test", Object.values(Permission));
  const { account } = await newCaller().putAccount({
    ...{ externalId: "one", username: "one", displayName: "One" },
  });
  accountId = account?.id ?? "";
  await warmUp();
});
afterAll(async () => {
  closeSessions();
  await core?.stop();
  await database?.drop();
});

/** A caller with a connection of its own. */
function newCaller(sendCompression?: typeof compressionGzip): Client<typeof AccountService> {
  const baseUrl = `http://127.0.0.1:${port}`;
  const sessionManager = new Http2SessionManager(baseUrl);
  sessions.push(sessionManager);
  const headers = { authorization: `Bearer ${credential}` };
  return createClient(
    AccountService,
    createGrpcTransport({
      ...{ baseUrl, sessionManager },
      ...(sendCompression && { sendCompression }),
      defaultTimeoutMs: 15_000,
      interceptors: [
        (next) => (request) => {
          for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
          return next(request);
        },
      ],
    }),
  );
}

function closeSessions(): void {
  for (const session of sessions.splice(0)) session.abort();
}

/** Has callers call, each at its own pace: half of them over one connection, half over a new one each time. */
async function callAll(): Promise<{ ends: Record<string, number>; times: number[] }> {
  const ends: Record<string, number> = {};
  const times: number[] = [];
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, index) => {
      const own = newCaller();
      await wait((index / CALLERS) * (SPREAD_MS / CALLS_EACH));
      for (let count = 0; count < CALLS_EACH; count++) {
        const startedMs = performance.now();
        const caller = index % 2 === 0 ? own : newCaller();
        const end = await caller.getAccount({ accountId }).then(
          () => "ok",
          (error) => ConnectError.from(error).message,
        );
        ends[end] = (ends[end] ?? 0) + 1;
        times.push(performance.now() - startedMs);
        await wait(SPREAD_MS / CALLS_EACH);
      }
    }),
  );
  closeSessions();
  return { ends, times: times.sort((a, b) => a - b) };
}

/** Calls at full speed, and some as large as are taken: the memory of honest callers is not an attack's. */
async function warmUp(): Promise<void> {
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      const [caller, compressing] = [newCaller(), newCaller(compressionGzip)];
      for (let count = 0; count < 10; count++) {
        await Promise.all(Array.from({ length: 20 }, () => caller.getAccount({ accountId })));
      }
      const large = { externalId: "x".repeat(1_000_000), username: "x", displayName: "x" };
      for (const each of [caller, compressing, caller, compressing]) {
        await expect(each.putAccount(large)).rejects.toThrow("external_id");
      }
    }),
  );
  closeSessions();
}

async function residentMb(): Promise<number> {
  const status = await readFile(`/proc/${core.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** Runs an attack from an address of its own while the callers call. */
async function callBeside(attack: DoorAttack, address: string) {
  const durationMs = `${AHEAD_MS * 2 + SPREAD_MS}`;
  const args = [
    file("./harness-door-flood.ts"),
    attack,
    address,
    durationMs,
    `${port}`,
    credential,
  ];
  const before = await residentMb();
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const report = text(child.stdout);
  let highest = before;
  const sampling = setInterval(async () => {
    highest = Math.max(highest, await residentMb());
  }, 100);
  await wait(AHEAD_MS);
  const called = await callAll();
  const flood = JSON.parse(await report) as Record<string, number>;
  clearInterval(sampling);
  return { ...called, flood, growthMb: highest - before };
}

function tell(what: string, times: readonly number[], more = ""): void {
  const at = (share: number) => `${times[Math.floor(times.length * share)]?.toFixed(1)} ms`;
  process.stderr.write(`${what}: p50 ${at(0.5)}, p99 ${at(0.99)} ${more}\n`);
}

describe("ADR 0037: callers of the core lose nothing, and it keeps nothing of an attack", () => {
  const all = { ok: CALLERS * CALLS_EACH };

  it("without an attack", async () => {
    const { ends, times } = await callAll();
    tell("no attack", times);
    expect(ends).toEqual(all);
  }, 60_000);

  it.each(Object.keys(DOOR_ATTACKS).map((attack, index) => [attack as DoorAttack, index] as const))(
    "beside %s",
    async (attack, index) => {
      const { ends, times, flood, growthMb } = await callBeside(attack, `127.0.1.${index + 2}`);
      tell(attack, times, `${growthMb.toFixed(0)} MB more ${JSON.stringify(flood)}`);
      expect(ends).toEqual(all);
      expect(flood.sent).toBeGreaterThanOrEqual(200);
      const longestMs = AHEAD_MS * 2 + SPREAD_MS;
      const refusals = MADE_UP_AT_ONCE * (longestMs / REFUSAL_DELAY_MS);
      expect(flood["status 14"] ?? 0).toBeLessThanOrEqual(refusals);
      expect(growthMb).toBeLessThan(MAX_GROWTH_MB);
    },
    120_000,
  );
});
