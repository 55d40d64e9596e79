import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DeliveryState } from "@activity/proto";
import { Permission } from "@activity/server";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { headerOf } from "../delivery/harness-deliveries.ts";
import { answer } from "../delivery/harness-receiver-behaviours.ts";
import type { Certificate } from "../delivery/harness-receiver-certificates.ts";
import { type RunningHaproxy, startHaproxy } from "../harness/haproxy.ts";
import { startTestStack } from "../harness/stack.ts";
import { useTemporal } from "../harness/temporal.ts";
import { useFolder, useStarted } from "../harness/use-started.ts";
import { createFront } from "./harness-front.ts";
import { createInstance, type ProcessInstance } from "./harness-instances.ts";
import {
  KEYS,
  type PartName,
  useTrustedReceiver,
  type Variables,
  variablesOf,
} from "./harness-parts.ts";
import { startStories } from "./harness-stories.ts";

/** How often each process restarts. `npm run test:all -- long` restarts each ten times. */
const ROUNDS = process.env.FULL ? 10 : 2;
const MINUTE = 60_000;
const START = 4 * MINUTE;
/** Instances drain for five seconds. HAProxy needs four checks, a quarter of a second apart, to notice that. */
const DRAIN = { DRAIN_SECONDS: "5" };
const LOOPS = 6;
/** A slow receiver keeps attempts in flight at every moment. */
const RECEIVER_MS = 300;

const folder = useFolder("restarts");
const at = (name: string) => join(folder, name);
const trusted = useTrustedReceiver(folder, answer(503));
/** A product for set-up and checks. It delivers nothing and gets no load. */
const stack = useStarted(() => startTestStack({ env: { ...KEYS, ...trusted.trusting } }));
const temporal = useTemporal(folder);
/** Clients use TLS to the gateways. HAProxy repeats no request, and forwards the bytes of the cores unread. */
let haproxy: RunningHaproxy;
let tls: Certificate & { readonly ca: string };
let everything: string;
const ports = { gateways: await findFreePort(), cores: await findFreePort() };
let instances: Record<"gateways" | "cores" | "deliveries", ProcessInstance[]>;

beforeAll(async () => {
  const { certificates, trusting } = trusted;
  tls = { ...certificates.good, ca: certificates.ca };
  await writeFile(at("core.pem"), tls.cert);
  await writeFile(at("core.key"), tls.key);
  await writeFile(at("front.pem"), tls.cert + tls.key);
  everything = await stack.credential(...Object.values(Permission));
  const coreUrl = `https://127.0.0.1:${ports.cores}`;
  const toCore = { ...DRAIN, CORE_URL: coreUrl, CORE_TLS_CA: trusting.WEBHOOK_EXTRA_CA };
  const coreEnv = {
    ...{ ...(await variablesOf("core", stack)), ...DRAIN, ...trusting },
    ...{ CORE_TLS_CERT: at("core.pem"), CORE_TLS_KEY: at("core.key") },
  };
  const gatewayEnv = {
    ...{ ...(await variablesOf("gateway", stack)), ...toCore, TRUSTED_PROXIES: "127.0.0.1/32" },
  };
  const deliveryEnv = {
    ...{ ...(await variablesOf("deliveries", stack)), ...toCore, ...trusting },
    TEMPORAL_ADDRESS: temporal.address,
  };
  // One instance makes first attempts under leases, the other in workflows. Stopping a worker interrupts neither.
  const everyRun = { ...deliveryEnv, DELIVERY_WORKFLOWS: "all" };
  const createPair = (name: PartName, ...envs: [Variables, Variables]) =>
    Promise.all(envs.map((env) => createInstance(name, env)));
  instances = {
    gateways: await createPair("gateway", gatewayEnv, gatewayEnv),
    cores: await createPair("core", coreEnv, coreEnv),
    deliveries: await createPair("deliveries", deliveryEnv, everyRun),
  };
  haproxy = await startHaproxy(
    folder,
    `
defaults
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout check 5s
  option redispatch
  option httpchk GET /ready
  default-server check inter 250ms fall 4 rise 1
listen gateways
  mode http
  bind 127.0.0.1:${ports.gateways} ssl crt ${at("front.pem")}
  option forwardfor
${serversOf(instances.gateways)}
listen cores
  mode tcp
  balance leastconn
  bind 127.0.0.1:${ports.cores}
${serversOf(instances.cores)}
`,
  );
  await Promise.all(instances.cores.map((one) => one.start()));
  await Promise.all(instances.cores.map(untilUp));
  await Promise.all([...instances.gateways, ...instances.deliveries].map((one) => one.start()));
  await Promise.all(instances.gateways.map(untilUp));
}, START);
afterAll(async () => {
  for (const one of Object.values(instances).flat()) one.signal("SIGKILL");
  await haproxy?.stop();
});

const serversOf = (all: readonly ProcessInstance[]) =>
  all
    .map(({ port, healthPort }) => `  server at-${port} 127.0.0.1:${port} port ${healthPort}`)
    .join("\n");
const untilUp = ({ port }: ProcessInstance) =>
  vi.waitUntil(() => haproxy.isUp(`at-${port}`), { timeout: 30_000, interval: 100 });

it(
  "fails no request and makes no attempt twice while two of each process restart in turn under load, over TLS, ADR 0043",
  async () => {
    const { receiver } = trusted;
    const [cores, gateways] = [createFront(), createFront()];
    cores.add(ports.cores);
    gateways.add(ports.gateways);
    const stories = startStories({
      ...{ cores, gateways, receiver, credential: () => everything, tls: () => tls },
      ...{ gatewaysCa: () => tls.ca, receiverMs: RECEIVER_MS, loops: LOOPS },
    });
    const restartEach = async (pair: readonly ProcessInstance[], isBehindProxy: boolean) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const one of pair) {
          await one.end();
          await one.start();
          if (isBehindProxy) await untilUp(one);
        }
      }
    };
    // Both instances of a kind restart in turn. The kinds restart in parallel, so each meets the others' restarts.
    await Promise.all([
      restartEach(instances.gateways, true),
      restartEach(instances.cores, true),
      restartEach(instances.deliveries, false),
    ]);
    await stories.more(1);
    await stories.stop();
    const eventIds = receiver.requests.map((request) => headerOf(request, "Service-Event-Id"));
    expect(eventIds.length).toBeGreaterThan(ROUNDS);
    expect(new Set(eventIds).size, "attempts that reached the receiver").toBe(eventIds.length);
    // Polls, because the receiver has got every event, but the last attempts may not be recorded yet.
    const counted = { delivered: eventIds.length, attempts: eventIds.length };
    await expect.poll(count, { timeout: MINUTE }).toEqual([counted]);
  },
  (3 + 3 * ROUNDS) * MINUTE,
);

const count = () =>
  stack.database.query(
    `SELECT (SELECT COUNT(*) FROM delivery WHERE state = ?) AS delivered,
       (SELECT COUNT(*) FROM delivery_attempt) AS attempts`,
    [DeliveryState.DELIVERED],
  );
