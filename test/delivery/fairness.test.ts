import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { DeliveryState, EndpointService } from "@activity/proto";
import { Connection, WorkflowClient } from "@temporalio/client";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { beginWorkflow } from "../../workflows/src/dispatcher/begin-workflow.ts";
import { AttemptOutcome } from "../../workflows/src/http/attempt-outcome.ts";
import { writeDeliveries, writePending } from "../harness/backlog.ts";
import { createAccount, createPaidDonation } from "../harness/builders.ts";
import { ALL_KINDS, type DeliveryStack, startDeliveryStack } from "./harness-deliveries.ts";
import type { Behaviour, ReceivedRequest } from "./harness-receiver.ts";
import { answer } from "./harness-receiver-behaviours.ts";

/** What another account's deliveries may cost a first attempt: the guarantee itself, so asserted as it is. */
const BOUND_MS = 2_000;
const BACKLOG = 100_000;
const RETRIES = 2_000;
/** What it takes to tell Temporal of so many. */
const RETRIES_DUE_IN_MS = 40_000;
const BUSY_ENDPOINTS = 10;
/** How many retries a worker makes at one endpoint at a time. */
const SLOTS = 16;
const TASK_QUEUE = "fairness";

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
  delivery = await startDeliveryStack(behaviour, { env: { TEMPORAL_TASK_QUEUE: TASK_QUEUE } });
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
  const retries = { accountId: busyId, endpointIds, count: RETRIES };
  const failedOnce = { state: DeliveryState.RETRYING, attempts: 1, nextAttemptSeconds: 60 };
  const { database } = delivery.stack;
  const ids = await writeDeliveries(database, retries, failedOnce);
  const [account] = await database.query<{ account_no: number }>(
    "SELECT account_no FROM account WHERE id = ?",
    [busyId],
  );
  const accountNo = account?.account_no ?? 0;
  const connection = await Connection.connect({ address: delivery.temporal().address });
  const client = new WorkflowClient({ connection });
  const starters = Array.from({ length: 64 }, async () => {
    for (let deliveryId = ids.pop(); deliveryId !== undefined; deliveryId = ids.pop()) {
      const run = { accountNo, deliveryId, run: 1 };
      const made = [{ outcome: AttemptOutcome.Timeout, endedAtMs: Date.now() }];
      await beginWorkflow(client, TASK_QUEUE, { ...run, made }, Math.max(1, dueAt - Date.now()));
    }
  });
  await Promise.all(starters);
  await connection.close();
}

const writeBacklog = () =>
  writePending(delivery.stack.database, {
    accountId: busyId,
    endpointIds: busyEndpointIds,
    count: BACKLOG,
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

it("keeps a first attempt within 2 seconds beside 100,000 deliveries to endpoints that hang", async () => {
  busy = never;
  await writeBacklog();
  const took = await firstAttemptsFor(15_000);
  expect(Math.max(...took)).toBeLessThan(BOUND_MS);
  expect(busyRequests()).toBeGreaterThan(BUSY_ENDPOINTS);
}, 90_000);

it("keeps a first attempt within 2 seconds while 2,000 retries are due at once at an endpoint that hangs", async () => {
  busy = never;
  await expect.poll(() => busySockets.size).toBe(0);
  mostBusySockets = 0;
  const dueAt = Date.now() + RETRIES_DUE_IN_MS;
  await startRetries(dueAt);
  await wait(Math.max(0, dueAt - Date.now() - 1_000));
  const took = await firstAttemptsFor(15_000);
  expect(Math.max(...took)).toBeLessThan(BOUND_MS);
  // The endpoint had all that it may have, and no more.
  await expect.poll(() => mostBusySockets).toBeGreaterThanOrEqual(SLOTS);
  expect(mostBusySockets).toBe(SLOTS);
}, 120_000);

it("keeps a first attempt within 2 seconds beside 100,000 deliveries to endpoints that fail at once", async () => {
  busy = answer(500);
  const before = busyRequests();
  await writeBacklog();
  const took = await firstAttemptsFor(12_000);
  expect(Math.max(...took)).toBeLessThan(BOUND_MS);
  expect(busyRequests() - before).toBeGreaterThan(BUSY_ENDPOINTS);
}, 90_000);
