import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServedProcess, serveProcess } from "../../bench/sides/served-process.ts";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { createReader } from "../harness/builders.ts";
import { type HttpAnswer, requestOf } from "../harness/http.ts";
import { startTestStack, type TestStack } from "../harness/stack.ts";
import { ATTACKS, type Attack } from "./harness-attacks.ts";

const CLIENTS = 200;
const REQUESTS_EACH = 5;
const SPREAD_MS = 5_000;
const WARM_REQUESTS = 20;
/** How long the attack goes on before the others come, and until after they went. */
const AHEAD_MS = 1_500;

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

let stack: TestStack;
let apiKeys: string[];
let ports: number[];
const instances: ServedProcess[] = [];
beforeAll(async () => {
  stack = await startTestStack();
  const readers = await Promise.all(Array.from({ length: CLIENTS }, () => createReader(stack)));
  apiKeys = readers.map(({ apiKey }) => apiKey);
  ports = [await findFreePort(), await findFreePort()];
  for (const port of ports) instances.push(await startInstance(port));
  await Promise.all(apiKeys.map(warmUp));
});
afterAll(async () => {
  for (const instance of instances) await instance.stop();
  await stack.stop();
});

function startInstance(port: number): Promise<ServedProcess> {
  return serveProcess({
    name: `flooded-${ports.indexOf(port)}`,
    file: file("../../bench/sides/one-process.mjs"),
    serves: { port },
    env: {
      DATABASE_URL: stack.database.url,
      CURSOR_KEYS: randomBytes(32).toString("hex"),
      SECRET_KEYS: randomBytes(32).toString("hex"),
      CORE_PORT: "0",
      GATEWAY_PORT: `${port}`,
      TRUSTED_PROXIES: "127.0.0.1/32",
    },
    profileFolder: undefined,
  });
}

/** Asks as fast as it can: a process that has just started is slow beside an attack and without one. */
async function warmUp(apiKey: string, client: number): Promise<void> {
  for (let count = 0; count < WARM_REQUESTS; count++) await ask(client, apiKey);
}

function ask(client: number, apiKey: string): Promise<HttpAnswer> {
  return requestOf(ports[client % 2] ?? 0, "/api/v1/activity", {
    apiKey,
    headers: { "x-forwarded-for": `198.51.100.${client}` },
  });
}

/** Has every client ask at its own pace, and returns how its requests ended and what they took. */
async function askAsClients(): Promise<{ statuses: Record<string, number>; times: number[] }> {
  const statuses: Record<string, number> = {};
  const times: number[] = [];
  async function askOnce(client: number): Promise<void> {
    const startedMs = performance.now();
    const status = await ask(client, apiKeys[client] ?? "").then(
      (answer) => `${answer.status}`,
      (error) => `${error.code}`,
    );
    statuses[status] = (statuses[status] ?? 0) + 1;
    times.push(performance.now() - startedMs);
  }
  await Promise.all(
    apiKeys.map(async (_apiKey, client) => {
      await wait((client / CLIENTS) * (SPREAD_MS / REQUESTS_EACH));
      for (let count = 0; count < REQUESTS_EACH; count++) {
        await askOnce(client);
        await wait(SPREAD_MS / REQUESTS_EACH);
      }
    }),
  );
  return { statuses, times: times.sort((a, b) => a - b) };
}

/** Runs an attack from an address of its own while the clients ask. */
async function askBeside(attack: Attack, address: string) {
  const durationMs = `${AHEAD_MS * 2 + SPREAD_MS}`;
  const args = [file("./harness-flood.ts"), attack, address, durationMs, ...ports.map(String)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const report = text(child.stdout);
  await wait(AHEAD_MS);
  const asked = await askAsClients();
  return { ...asked, flood: JSON.parse(await report) as Record<string, number> };
}

function report(what: string, times: readonly number[], flood?: Record<string, number>): void {
  const at = (share: number) => `${times[Math.floor(times.length * share)]?.toFixed(1)} ms`;
  process.stderr.write(
    `${what}: p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(0.9999)} ${JSON.stringify(flood ?? {})}\n`,
  );
}

describe("ADR 0030: 200 clients within their limits, on two instances, lose nothing", () => {
  const all = { 200: CLIENTS * REQUESTS_EACH };

  it.each(Object.keys(ATTACKS).map((attack, index) => [attack as Attack, index] as const))(
    "beside one address that floods by %s",
    async (attack, index) => {
      const { statuses, times, flood } = await askBeside(attack, `127.0.0.${index + 2}`);
      report(attack, times, flood);
      expect(statuses).toEqual(all);
      // The attack was one, and no more of it was let through than the limit of its address.
      expect((flood.requests ?? 0) + (flood.connections ?? 0)).toBeGreaterThan(300);
      expect(flood["401"] ?? 0).toBeLessThanOrEqual(300);
    },
    120_000,
  );

  // Last, when everything has run warm: the others are read beside it.
  it("without an attack", async () => {
    const { statuses, times } = await askAsClients();
    report("no attack", times);
    expect(statuses).toEqual(all);
  });
});
