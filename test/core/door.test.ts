import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { AccountService } from "@activity/proto";
import { REFUSAL_DELAY_MS } from "@activity/runtime/refused-clients";
import { createServiceCredential, Permission } from "@activity/server";
import { type Client, ConnectError } from "@connectrpc/connect";
import { Http2SessionManager } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PRODUCT_FLAGS, serveProcess } from "../../bench/sides/served-process.ts";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import type { RunningServer } from "../../dev-stack/src/server-process.ts";
import { CLIENT_LIMIT } from "../../server/src/admission/admission.ts";
import { askAtOwnPace, beside } from "../harness/attack.ts";
import { clientsOf } from "../harness/clients.ts";
import { useTestDatabase } from "../harness/database.ts";
import { DOOR_ATTACKS, MADE_UP_AT_ONCE } from "./harness-door-attacks.ts";

const PACE = { clients: 40, each: 10, spreadMs: 3_000 };
const AHEAD_MS = 1_000;
/** How much the core's memory may grow during an attack. All bounded state together has at most 50 MB. */
const MAX_GROWTH_MB = 64;

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const database = useTestDatabase();
let core: RunningServer;
let port: number;
let inspector: WebSocket;
let heldBeforeMb: number;
let credential: string;
let accountId: string;
const sessions: Http2SessionManager[] = [];
beforeAll(async () => {
  port = await findFreePort();
  const inspectorPort = await findFreePort();
  core = await serveProcess({
    name: "door",
    file: file("../../server/src/main.ts"),
    flags: [...PRODUCT_FLAGS, `--inspect=127.0.0.1:${inspectorPort}`],
    serves: { port },
    env: {
      ...{ DATABASE_URL: database.url, CORE_PORT: `${port}` },
      CURSOR_KEYS: randomBytes(32).toString("hex"),
      SECRET_KEYS: randomBytes(32).toString("hex"),
    },
  });
  inspector = await inspectorOf(inspectorPort);
  credential = await createServiceCredential(database.url, "test", Object.values(Permission));
  const names = { externalId: "one", username: "one", displayName: "One" };
  accountId = (await newCaller().putAccount(names)).account?.id ?? "";
  await callAll();
  heldBeforeMb = await heldMb();
}, 120_000);
afterAll(async () => {
  closeSessions();
  inspector?.close();
  await core?.stop();
});

function newCaller(): Client<typeof AccountService> {
  const baseUrl = `http://127.0.0.1:${port}`;
  const sessionManager = new Http2SessionManager(baseUrl);
  sessions.push(sessionManager);
  const options = { sessionManager, defaultTimeoutMs: 15_000 };
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

async function inspectorOf(port: number): Promise<WebSocket> {
  const response = await fetch(`http://127.0.0.1:${port}/json`);
  const [target] = (await response.json()) as { webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? "");
  await once(socket, "open");
  return socket;
}

let commands = 0;
async function inspect(method: string, params = {}): Promise<{ result?: { value?: unknown } }> {
  const id = ++commands;
  inspector.send(JSON.stringify({ id, method, params }));
  for (;;) {
    const [event] = await once(inspector, "message");
    const message = JSON.parse(event.data);
    if (message.id === id) return message.result;
  }
}

/** Returns the megabytes that the core uses after a garbage collection. Resident memory would include freed memory. */
async function heldMb(): Promise<number> {
  await inspect("HeapProfiler.collectGarbage");
  const expression =
    "{ const { heapUsed, external } = process.memoryUsage(); heapUsed + external }";
  const { result } = await inspect("Runtime.evaluate", { expression });
  return Number(result?.value) / 2 ** 20;
}

it.each(Object.keys(DOOR_ATTACKS).map((attack, index) => [attack, index] as const))(
  "ADR 0037: the core serves its callers, and its memory stays bounded, beside %s",
  async (attack, index) => {
    const held: number[] = [];
    const { result, flood, tookMs } = await beside(
      [file("./harness-door-attacks.ts"), attack, `127.0.1.${index + 2}`, `${port}`, credential],
      AHEAD_MS,
      async () => {
        const called = await callAll();
        // Measures after the calls, because a garbage collection delays them.
        for (let sample = 0; sample < 5; sample++) held.push(await heldMb());
        return called;
      },
    );
    expect(result).toEqual({ ok: PACE.clients * PACE.each });
    // Proves that the attack took place.
    expect(flood.opened).toBeGreaterThan(0);
    expect(flood.sent).toBeGreaterThanOrEqual(100);
    if (attack === "made-up credentials") {
      // The core looked up at most as many credentials as one address may send.
      expect(flood["status 16"]).toBeLessThanOrEqual(CLIENT_LIMIT);
      const refusals = MADE_UP_AT_ONCE * (tookMs / REFUSAL_DELAY_MS);
      expect(flood["status 14"]).toBeLessThanOrEqual(refusals);
      expect(flood["status 14"]).toBeGreaterThan(0);
    }
    expect(Math.max(...held) - heldBeforeMb).toBeLessThan(MAX_GROWTH_MB);
  },
  120_000,
);
