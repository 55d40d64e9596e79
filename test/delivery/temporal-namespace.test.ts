import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { createServer } from "node:tls";
import type { Worker } from "node:worker_threads";
import { DeliveryState } from "@activity/proto";
import { Connection } from "@temporalio/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { unique } from "../harness/builders.ts";
import { listenLocally } from "../harness/listening.ts";
import { openDoor } from "../harness/tcp-door.ts";
import { useDeliveryStack } from "./harness-deliveries.ts";
import { answer } from "./harness-receiver-behaviours.ts";
import { sharedCertificates } from "./harness-receiver-certificates.ts";

/** Polls are long: Temporal's parts learn of a new namespace after seconds, and the pauses between tries double. */
const patient = { timeout: 60_000, interval: 100 };

const namespace = unique("nowhere");
/** Running threads that this process started. */
const threads = new Set<Worker>();
const keep = (thread: Worker) => {
  threads.add(thread);
  thread.once("exit", () => threads.delete(thread));
};

const delivery = useDeliveryStack(answer(503), {
  delivers: false,
  env: { TEMPORAL_NAMESPACE: namespace },
});
let instance: { stop(): Promise<void> };
beforeAll(async () => {
  process.on("worker", keep);
  instance = await delivery.startDelivering();
});
afterAll(() => void process.off("worker", keep));

const waits = () => delivery.stack.log.filter((line) => line.includes("retries wait"));
const runs = () => delivery.stack.log.filter((line) => line.includes("deliveries run"));
const temporalPort = () => Number(delivery.temporal().address.split(":").at(-1));

async function registerNamespace(): Promise<void> {
  const connection = await Connection.connect({ address: delivery.temporal().address });
  const { workflowService } = connection;
  const { config } = await workflowService.describeNamespace({ namespace: "default" });
  const workflowExecutionRetentionPeriod = config?.workflowExecutionRetentionTtl ?? null;
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  await connection.close();
}

it("waits for its namespace without a further thread at each try, and says what to do", async () => {
  await expect.poll(waits, patient).toHaveLength(3);
  expect(threads.size).toBe(0);
  for (const line of waits()) {
    expect(JSON.parse(line)).toMatchObject({ code: "NotFound" });
    expect(line).toContain("TEMPORAL_NAMESPACE");
    expect(line).not.toContain(delivery.temporal().address);
  }
});

it("begins retries once the namespace is there, and ends its threads when stopped", async () => {
  const owner = await delivery.createOwner();
  const { deliveryId } = await delivery.sendTest(owner);
  const stateOf = () => delivery.stateOf(owner.accountId, deliveryId);
  await expect.poll(stateOf, patient).toBe(DeliveryState.RETRYING);
  const waiting = () => delivery.entriesOf();
  expect(await waiting()).toHaveLength(1);
  await registerNamespace();
  await expect.poll(waiting, patient).toEqual([]);
  const ended = [...threads].map((thread) => once(thread, "exit"));
  expect(ended).not.toEqual([]);
  await instance.stop();
  await Promise.all(ended);
  expect(threads.size).toBe(0);
});

it("stops before its process is ended, although Temporal answers nothing. ADR 0043", async () => {
  const door = await openDoor(temporalPort());
  const before = runs().length;
  const hanging = await delivery.startDelivering({ TEMPORAL_ADDRESS: `127.0.0.1:${door.port}` });
  await expect.poll(runs, patient).toHaveLength(before + 1);
  door.silenceOpen();
  const stopped = hanging.stop().then(() => "stopped");
  expect(await Promise.race([stopped, wait(30_000, "goes on", { ref: false })])).toBe("stopped");
  door.close();
});

it("begins retries once connections over TLS are answered again, at the start and later, and says that it waits. docs/operating.md", async () => {
  const { ca, good } = sharedCertificates();
  const terminator = createServer({ ...good, ALPNProtocols: ["h2"] }, (client) => {
    const temporal = connect(temporalPort(), "127.0.0.1");
    for (const socket of [client, temporal]) socket.on("error", () => undefined);
    client.pipe(temporal).pipe(client);
  });
  const port = await listenLocally(terminator);
  let isMute = true;
  let muted = 0;
  // A mute connection stays mute.
  const door = await openDoor(port, () => {
    if (!isMute) return true;
    muted += 1;
    return new Promise<never>(() => undefined);
  });
  const before = runs().length;
  const secured = await delivery.startDelivering({
    TEMPORAL_NAMESPACE: "default",
    TEMPORAL_ADDRESS: `localhost:${door.port}`,
    TEMPORAL_TLS_SERVER_CA_CERT_DATA: ca,
  });
  await expect.poll(() => muted, patient).toBeGreaterThan(0);
  isMute = false;
  await expect.poll(runs, patient).toHaveLength(before + 1);
  isMute = true;
  const logged = delivery.stack.log.length;
  door.leadTo(port);
  const { deliveryId } = await delivery.sendTest(await delivery.createOwner());
  const since = () => delivery.stack.log.slice(logged).join("");
  await expect.poll(since, patient).toContain("begin of retries failed");
  isMute = false;
  await expect.poll(() => delivery.entriesOf(deliveryId), patient).toEqual([]);
  await secured.stop();
  door.close();
  terminator.close();
});
