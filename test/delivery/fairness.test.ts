import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { DeliveryState, EndpointService } from "@activity/proto";
import { Connection, WorkflowClient } from "@temporalio/client";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { deliverWorkflowId, TASK_QUEUE } from "../../workflows/src/contract.ts";
import { createAccount, createPaidDonation } from "../harness/builders.ts";
import { writeDeliveries, writeWaiting } from "./harness-backlog.ts";
import { ALL_KINDS, type DeliveryStack, startDeliveryStack } from "./harness-deliveries.ts";
import type { Behaviour, ReceivedRequest } from "./harness-receiver.ts";
import { answer } from "./harness-receiver-behaviours.ts";

/** What another account's deliveries may cost a first attempt: the guarantee itself, so asserted as it is. */
const BOUND_MS = 5_000;
const BACKLOG = 100_000;
const RETRIES = 1_000;
/** What it takes to tell the engine of so many. */
const RETRIES_DUE_IN_MS = 20_000;
const BUSY_ENDPOINTS = 10;
/** How many repeated attempts a worker makes at one endpoint at a time. */
const PLACES = 16;

const never: Behaviour = () => undefined;
let busy: Behaviour = never;
const isBusy = ({ requestLine }: ReceivedRequest) => requestLine.includes("/busy");
/** When the event of a record arrived at the quiet account's receiver. */
const arrivals = new Map<string, number>();
/** The connections that carry a request to the first busy endpoint, and the most that there were at once. */
const busySockets = new Set<Socket>();
let mostBusySockets = 0;
function noteBusy(socket: Socket): void {
  if (busySockets.has(socket)) return;
  busySockets.add(socket);
  mostBusySockets = Math.max(mostBusySockets, busySockets.size);
  socket.once("close", () => busySockets.delete(socket));
}
const behaviour: Behaviour = (socket, request) => {
  if (request.requestLine.includes("/busy/0 ")) noteBusy(socket);
  if (isBusy(request)) return busy(socket, request);
  arrivals.set(JSON.parse(request.body.toString("utf8")).data.id, performance.now());
  answer(200)(socket, request);
};

let delivery: DeliveryStack;
let quietId: string;
let busyId: string;
let busyEndpointIds: string[];
beforeAll(async () => {
  delivery = await startDeliveryStack(behaviour);
  quietId = await createAccount(delivery.stack);
  await delivery.createEndpoint(quietId);
  busyId = await createAccount(delivery.stack);
  const paths = Array.from({ length: BUSY_ENDPOINTS }, (_, number) => `/busy/${number}`);
  const url = (path: string) => `https://127.0.0.1:${delivery.receiver.port}${path}`;
  busyEndpointIds = await Promise.all(
    paths.map(async (path) => {
      const kinds = { kinds: ALL_KINDS };
      const created = { accountId: busyId, url: url(path), kinds };
      const { endpoint } = await delivery.stack.client(EndpointService).createEndpoint(created);
      return endpoint?.id ?? "";
    }),
  );
});
afterAll(() => delivery.stop());
afterEach(async () => {
  await delivery.stack.database.query("DELETE FROM outbox_entry");
  for (const socket of delivery.receiver.sockets()) socket.destroy();
});

/** Puts deliveries to sleep that are all tried again at one moment, at one endpoint. */
async function startRetries(dueAt: number): Promise<void> {
  const endpointIds = busyEndpointIds.slice(0, 1);
  const retries = { accountId: busyId, endpointIds, count: RETRIES, prefix: "retriedagn" };
  const failedOnce = { state: DeliveryState.HANDED_OVER, attempts: 1, nextAttemptSeconds: 60 };
  const ids = await writeDeliveries(delivery.stack.database, retries, failedOnce);
  const connection = await Connection.connect({ address: delivery.temporal().address });
  const client = new WorkflowClient({ connection });
  const lanes = Array.from({ length: 64 }, async () => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      const sequence = { deliveryId: id, sequence: 1 };
      const workflowId = deliverWorkflowId(sequence);
      const startDelay = Math.max(1, dueAt - Date.now());
      const args = [{ ...sequence, attempt: 2 }];
      await client.start("deliver", { workflowId, taskQueue: TASK_QUEUE, args, startDelay });
    }
  });
  await Promise.all(lanes);
  await connection.close();
}

const waiting = async (prefix: string) =>
  writeWaiting(delivery.stack.database, {
    accountId: busyId,
    endpointIds: busyEndpointIds,
    count: BACKLOG,
    prefix,
  });

/** Tells of donations of the quiet account for so long, and returns how long each took to arrive. */
async function firstAttemptsFor(milliseconds: number): Promise<number[]> {
  const endsAt = performance.now() + milliseconds;
  const took: number[] = [];
  while (performance.now() < endsAt) {
    const { recordId } = await createPaidDonation(delivery.stack, quietId);
    const committed = performance.now();
    while (!arrivals.has(recordId) && performance.now() < committed + 2 * BOUND_MS) await wait(20);
    took.push((arrivals.get(recordId) ?? performance.now()) - committed);
    await wait(500);
  }
  process.stderr.write(`first attempts after ${took.map((ms) => ms.toFixed(0)).join(", ")} ms\n`);
  return took;
}

const busyRequests = () => delivery.receiver.requests.filter(isBusy).length;

it("keeps a first attempt within 5 seconds beside 100,000 deliveries to endpoints that hang", async () => {
  busy = never;
  await waiting("hangshangs");
  const took = await firstAttemptsFor(15_000);
  expect(Math.max(...took)).toBeLessThan(BOUND_MS);
  expect(busyRequests()).toBeGreaterThan(BUSY_ENDPOINTS);
}, 90_000);

it("keeps a first attempt within 5 seconds while 1,000 retries are due at once at an endpoint that hangs", async () => {
  busy = never;
  await expect.poll(() => busySockets.size).toBe(0);
  mostBusySockets = 0;
  const dueAt = Date.now() + RETRIES_DUE_IN_MS;
  await startRetries(dueAt);
  await wait(Math.max(0, dueAt - Date.now() - 1_000));
  const took = await firstAttemptsFor(15_000);
  expect(Math.max(...took)).toBeLessThan(BOUND_MS);
  // The endpoint had all that it may have, and no more.
  await expect.poll(() => mostBusySockets).toBeGreaterThanOrEqual(PLACES);
  expect(mostBusySockets).toBe(PLACES);
}, 120_000);

it("keeps a first attempt within 5 seconds beside 100,000 deliveries to endpoints that fail at once", async () => {
  busy = answer(500);
  const before = busyRequests();
  await waiting("failsfails");
  const took = await firstAttemptsFor(12_000);
  expect(Math.max(...took)).toBeLessThan(BOUND_MS);
  expect(busyRequests() - before).toBeGreaterThan(BUSY_ENDPOINTS);
}, 90_000);
