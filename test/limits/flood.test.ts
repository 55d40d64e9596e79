import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { serveProcess } from "../../bench/sides/served-process.ts";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import type { RunningServer } from "../../dev-stack/src/server-process.ts";
import { askAtOwnPace, beside, inParallel } from "../harness/attack.ts";
import { createReader } from "../harness/builders.ts";
import { type HttpAnswer, requestOf } from "../harness/http.ts";
import { useTestStack } from "../harness/stack.ts";
import { KEYS } from "../operating/harness-parts.ts";
import { ATTACKS } from "./harness-attacks.ts";

const PACE = { clients: 200, each: 5, spreadMs: 5_000 };
const WARM_REQUESTS = 20;
/** How long the attack runs before the clients' requests. */
const AHEAD_MS = 1_500;

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const stack = useTestStack();
let apiKeys: string[];
let ports: number[];
const instances: RunningServer[] = [];
beforeAll(async () => {
  const readers = await inParallel(PACE.clients, () => createReader(stack));
  apiKeys = readers.map(({ apiKey }) => apiKey);
  ports = [await findFreePort(), await findFreePort()];
  for (const port of ports) instances.push(await startInstance(port));
  // Warms up: a process that has just started is slow even without an attack.
  await inParallel(PACE.clients, async (client) => {
    for (let count = 0; count < WARM_REQUESTS; count++) await ask(client);
  });
});
afterAll(async () => {
  for (const instance of instances) await instance.stop();
});

const startInstance = (port: number) =>
  serveProcess({
    name: `flooded-${ports.indexOf(port)}`,
    file: file("../../bench/sides/one-process.mjs"),
    serves: { port },
    env: {
      ...{ ...KEYS, DATABASE_URL: stack.database.url, CORE_PORT: "0" },
      ...{ GATEWAY_PORT: `${port}`, TRUSTED_PROXIES: "127.0.0.1/32" },
    },
  });

const ask = (client: number): Promise<HttpAnswer> =>
  requestOf(ports[client % 2] ?? 0, "/api/v1/activity", {
    ...{ apiKey: apiKeys[client] ?? "", headers: { "x-forwarded-for": `198.51.100.${client}` } },
  });

const askAsClients = () =>
  askAtOwnPace(PACE, (client) =>
    ask(client).then(
      ({ status }) => `${status}`,
      (error) => `${error.code}`,
    ),
  );

it.each(Object.keys(ATTACKS).map((attack, index) => [attack, index] as const))(
  "ADR 0030: 200 clients within their limits, on two instances, lose nothing beside one address that floods by %s",
  async (attack, index) => {
    const { result, flood } = await beside(
      [file("./harness-attacks.ts"), attack, `127.0.0.${index + 2}`, ...ports.map(String)],
      AHEAD_MS,
      askAsClients,
    );
    expect(result).toEqual({ 200: PACE.clients * PACE.each });
    // Proves that the attack took place.
    expect(flood.opened).toBeGreaterThan(0);
    expect(flood.requests).toBeGreaterThan(300);
    // No more requests of the attack passed than its address may send. An attacker that aborts gets no answers.
    if (attack !== "aborts") expect(flood["401"]).toBeLessThanOrEqual(300);
  },
  120_000,
);
