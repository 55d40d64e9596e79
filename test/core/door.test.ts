import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { AccountService } from "@activity/proto";
import { REFUSAL_DELAY_MS } from "@activity/runtime/refused-clients";
import { createServiceCredential, Permission } from "@activity/server";
import { type Client, ConnectError } from "@connectrpc/connect";
import { compressionGzip, Http2SessionManager } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  PRODUCT_FLAGS,
  type ServedProcess,
  serveProcess,
} from "../../bench/sides/served-process.ts";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { CLIENT_LIMIT } from "../../server/src/admission/admission.ts";
import { askAtOwnPace, beside, inParallel } from "../harness/attack.ts";
import { clientsOf } from "../harness/clients.ts";
import { useTestDatabase } from "../harness/database.ts";
import { DOOR_ATTACKS, MADE_UP_AT_ONCE } from "./harness-door-attacks.ts";

const PACE = { clients: 40, each: 10, spreadMs: 3_000 };
const AHEAD_MS = 1_000;
const MAX_GROWTH_MB = 32;

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const database = useTestDatabase();
let core: ServedProcess;
let port: number;
let credential: string;
let accountId: string;
const sessions: Http2SessionManager[] = [];
beforeAll(async () => {
  port = await findFreePort();
  core = await serveProcess({
    name: "door",
    file: file("../../server/src/main.ts"),
    flags: PRODUCT_FLAGS,
    serves: { port },
    env: {
      ...{ DATABASE_URL: database.url, CORE_PORT: `${port}` },
      CURSOR_KEYS: randomBytes(32).toString("hex"),
      SECRET_KEYS: randomBytes(32).toString("hex"),
    },
  });
  credential = await createServiceCredential(database.url, "test", Object.values(Permission));
  const names = { externalId: "one", username: "one", displayName: "One" };
  accountId = (await newCaller().putAccount(names)).account?.id ?? "";
  // After one round the memory of honest callers still grows by up to 30 MB.
  for (let round = 0; round < 4; round++) await warmUp();
}, 120_000);
afterAll(async () => {
  closeSessions();
  await core?.stop();
});

function newCaller(compression = {}): Client<typeof AccountService> {
  const baseUrl = `http://127.0.0.1:${port}`;
  const sessionManager = new Http2SessionManager(baseUrl);
  sessions.push(sessionManager);
  const options = { sessionManager, defaultTimeoutMs: 15_000, ...compression };
  return clientsOf(baseUrl, credential, options)(AccountService);
}

function closeSessions(): void {
  for (const session of sessions.splice(0)) session.abort();
}

/** Runs callers, each at a steady pace. Half of them keep one connection; the others open one for each call. */
async function callAll() {
  const own = Array.from({ length: PACE.clients }, () => newCaller());
  const called = await askAtOwnPace(PACE, (client) => {
    const caller = (client % 2 === 0 && own[client]) || newCaller();
    return caller.getAccount({ accountId }).then(
      () => "ok",
      (error) => ConnectError.from(error).message,
    );
  });
  closeSessions();
  return called;
}

/**
 * Calls at full speed, some with the largest messages. Otherwise the test would count the memory of honest callers as
 * growth.
 */
async function warmUp(): Promise<void> {
  await inParallel(PACE.clients, async () => {
    const plain = newCaller();
    const compressing = newCaller({ sendCompression: compressionGzip });
    for (let count = 0; count < 10; count++) {
      await inParallel(20, () => plain.getAccount({ accountId }));
    }
    const large = { externalId: "x".repeat(1_000_000), username: "x", displayName: "x" };
    for (const each of [plain, compressing, plain, compressing]) {
      await expect(each.putAccount(large)).rejects.toThrow("external_id");
    }
  });
  closeSessions();
}

async function residentMb(): Promise<number> {
  const status = await readFile(`/proc/${core.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

it.each(Object.keys(DOOR_ATTACKS).map((attack, index) => [attack, index] as const))(
  "ADR 0037: the core serves its callers, and its memory stays bounded, beside %s",
  async (attack, index) => {
    const before = await residentMb();
    let highest = before;
    const sampling = setInterval(async () => {
      highest = Math.max(highest, await residentMb());
    }, 100);
    const { result, flood, tookMs } = await beside(
      [file("./harness-door-attacks.ts"), attack, `127.0.1.${index + 2}`, `${port}`, credential],
      AHEAD_MS,
      callAll,
    );
    clearInterval(sampling);
    const growthMb = highest - before;
    expect(result).toEqual({ ok: PACE.clients * PACE.each });
    // The attack took place.
    expect(flood.opened).toBeGreaterThan(0);
    expect(flood.sent).toBeGreaterThanOrEqual(200);
    if (attack === "made-up credentials") {
      // The core looked up at most as many credentials as one address may send.
      expect(flood["status 16"]).toBeLessThanOrEqual(CLIENT_LIMIT);
      const refusals = MADE_UP_AT_ONCE * (tookMs / REFUSAL_DELAY_MS);
      expect(flood["status 14"]).toBeLessThanOrEqual(refusals);
      expect(flood["status 14"]).toBeGreaterThan(0);
    }
    expect(growthMb).toBeLessThan(MAX_GROWTH_MB);
  },
  120_000,
);
