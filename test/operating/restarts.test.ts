import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DeliveryState } from "@activity/proto";
import { Permission } from "@activity/server";
import { afterAll, beforeAll, expect, inject, it, vi } from "vitest";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { startTemporal } from "../../dev-stack/src/temporal.ts";
import { headerOf } from "../delivery/harness-deliveries.ts";
import type { Receiver } from "../delivery/harness-receiver.ts";
import { answer } from "../delivery/harness-receiver-behaviours.ts";
import type { Certificate } from "../delivery/harness-receiver-certificates.ts";
import { startTrustedReceiver } from "../delivery/harness-trusted-receiver.ts";
import { startTestStack, type TestStack } from "../harness/stack.ts";
import { useFolder } from "../harness/use-started.ts";
import { createFront } from "./harness-front.ts";
import { type Haproxy, startHaproxy } from "./harness-haproxy.ts";
import { createInstance, type ProcessInstance } from "./harness-instances.ts";
import { KEYS, type PartName, type Variables } from "./harness-parts.ts";
import { startStories } from "./harness-stories.ts";
import { startTemporalCluster } from "./harness-temporal-cluster.ts";

declare module "vitest" {
  interface ProvidedContext {
    restartRounds: number;
    /** Temporal as a cluster over MySQL, or as one process. */
    isTemporalCluster: boolean;
  }
}

const ROUNDS = inject("restartRounds");
const MINUTE = 60_000;
/** The first build of a cluster's server takes minutes longer. */
const START = (inject("isTemporalCluster") ? 20 : 4) * MINUTE;
/** HAProxy needs two checks, half a second apart. */
const DRAIN = { DRAIN_SECONDS: "3" };
const LOOPS = 6;
/** A slow receiver keeps attempts in flight at every moment. */
const RECEIVER_MS = 300;

/** For set-up and checks. It delivers nothing and gets no load. */
let stack: TestStack;
let receiver: Receiver;
let temporal: { readonly address: string; stop(): Promise<void> };
let haproxy: Haproxy;
const folder = useFolder("restarts");
let tls: Certificate & { readonly ca: string };
let everything: string;
const ports = { gateways: await findFreePort(), cores: await findFreePort() };
let instances: Record<"gateways" | "cores" | "deliveries", ProcessInstance[]>;
const all = () => Object.values(instances).flat();

beforeAll(async () => {
  const { certificates, trusting, ...trusted } = await startTrustedReceiver(folder, answer(503));
  receiver = trusted.receiver;
  tls = { ...certificates.good, ca: certificates.ca };
  const at = (name: string) => join(folder, name);
  await writeFile(at("core.pem"), tls.cert);
  await writeFile(at("core.key"), tls.key);
  stack = await startTestStack({ env: { ...KEYS, ...trusting } });
  const start = inject("isTemporalCluster") ? startTemporalCluster : startTemporal;
  temporal = await start({
    ...{ env: process.env, dataDir: join(folder, "temporal"), progress: createProgress() },
  });
  everything = await stack.credential(...Object.values(Permission));
  const coreUrl = `https://127.0.0.1:${ports.cores}`;
  const toCore = { ...DRAIN, CORE_URL: coreUrl, CORE_TLS_CA: trusting.WEBHOOK_EXTRA_CA };
  const coreEnv = {
    ...{ ...DRAIN, ...KEYS, ...trusting, DATABASE_URL: stack.database.url },
    ...{ CORE_TLS_CERT: at("core.pem"), CORE_TLS_KEY: at("core.key") },
  };
  const gatewayEnv = {
    ...{ ...toCore, TRUSTED_PROXIES: "127.0.0.1/32" },
    GATEWAY_CREDENTIAL: await stack.credential(Permission.ClientAddressForward),
  };
  const deliveryEnv = {
    ...{ ...toCore, ...trusting, TEMPORAL_ADDRESS: temporal.address },
    CORE_CREDENTIAL: await stack.credential(Permission.DeliveryDispatch),
  };
  // One makes first attempts under leases, the other in workflows. Stopping a worker interrupts neither.
  const everyRun = { ...deliveryEnv, DELIVERY_WORKFLOWS: "all" };
  const createPair = (name: PartName, ...envs: [Variables, Variables]) =>
    Promise.all(envs.map((env) => createInstance(name, env)));
  instances = {
    gateways: await createPair("gateway", gatewayEnv, gatewayEnv),
    cores: await createPair("core", coreEnv, coreEnv),
    deliveries: await createPair("deliveries", deliveryEnv, everyRun),
  };
  haproxy = await startHaproxy(ports, tls, instances.gateways, instances.cores);
  await Promise.all(instances.cores.map((one) => one.start()));
  await Promise.all(instances.cores.map(untilUp));
  await Promise.all([...instances.gateways, ...instances.deliveries].map((one) => one.start()));
  await Promise.all(instances.gateways.map(untilUp));
}, START);
afterAll(async () => {
  for (const one of all()) one.signal("SIGKILL");
  await haproxy?.stop();
  await stack.stop();
  await temporal.stop();
  await receiver.stop();
});

const untilUp = ({ port }: ProcessInstance) =>
  vi.waitUntil(() => haproxy.isUp(port), { timeout: 30_000, interval: 100 });

it(
  "fails no request and makes no attempt twice while two of each process restart in turn under load, over TLS, ADR 0043",
  async () => {
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
    const told = receiver.requests.map((request) => headerOf(request, "Service-Event-Id"));
    expect(told.length).toBeGreaterThan(ROUNDS);
    expect(new Set(told).size, "attempts that reached the receiver").toBe(told.length);
    // An unclaimed entry waits at most for the end of its lease.
    await expect.poll(countDelivered, { timeout: MINUTE }).toBe(told.length);
    const attempts = await stack.database.query<{ attempts: number }>(
      "SELECT COUNT(*) AS attempts FROM delivery_attempt",
    );
    expect(attempts).toEqual([{ attempts: told.length }]);
  },
  (3 + 3 * ROUNDS) * MINUTE,
);

async function countDelivered(): Promise<number> {
  const [row] = await stack.database.query<{ delivered: number }>(
    "SELECT COUNT(*) AS delivered FROM delivery WHERE state = ?",
    [DeliveryState.DELIVERED],
  );
  return row?.delivered ?? 0;
}
