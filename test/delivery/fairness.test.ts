import { setTimeout as wait } from "node:timers/promises";
import { DeliveryState, EndpointService } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Connection, WorkflowClient } from "@temporalio/client";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import { accountNoOf } from "../../server/src/common/ids.ts";
import { beginWorkflow } from "../../workflows/src/dispatcher/begin-workflow.ts";
import { AttemptOutcome } from "../../workflows/src/http/attempt-outcome.ts";
import { inParallel } from "../harness/attack.ts";
import { writeDeliveries, writePending } from "../harness/backlog.ts";
import { createAccount, createEndpoint, createPaidDonation } from "../harness/builders.ts";
import { bodyOf, headerOf, useDeliveryStack, verifyRequest } from "./harness-deliveries.ts";
import type { ReceivedRequest } from "./harness-receiver.ts";
import { answer } from "./harness-receiver-behaviours.ts";

const BUSY_ENDPOINTS = 10;
const BACKLOG = 100_000;
/** Fewer attempts of the backlog than this may come before another account's first attempt: a hundredth. */
const FEW = BACKLOG / 100;
const MEASURED_MS = 15_000;
const ARRIVES_WITHIN_MS = 30_000;
/**
 * The busy account's retries that are due at one moment. By default the test measures for half a minute. FULL=1 uses
 * the sizes of docs/scale.md, which take minutes.
 */
const CROWD = process.env.FULL
  ? { retries: 10_000, dueInMs: 180_000, timeoutMs: 400_000 }
  : { retries: 2_000, dueInMs: 45_000, timeoutMs: 180_000 };
const STARTS_AT_ONCE = 64;
/** The task queue of the product's workflows. The tests also start workflows in it. */
const TASK_QUEUE = "fairness";

const isBusy = ({ requestLine }: ReceivedRequest) => requestLine.includes("/busy");
/** The records of the quiet account whose events have arrived. */
const arrived = new Set<string>();
let hasRetryArrived = false;
/** For each request of the quiet endpoint, the secrets that may sign it, or why none of them does. */
const verified: Promise<readonly string[] | string>[] = [];
/** The busy endpoints hang. The quiet one answers. */
const delivery = useDeliveryStack(
  (socket, request) => {
    if (isBusy(request)) return;
    const { data, created_at } = bodyOf(request);
    const valid = validSecrets(Date.parse(created_at));
    verified.push(verifyRequest(request, valid).then(() => valid, String));
    if (data !== undefined) arrived.add(data.id);
    hasRetryArrived ||= headerOf(request, "Service-Attempt") === "2";
    answer(200)(socket, request);
  },
  { env: { TEMPORAL_TASK_QUEUE: TASK_QUEUE } },
);
const busyRequests = () => delivery.receiver.requests.filter(isBusy).length;

type Endpoint = { readonly accountId: string; readonly endpointId: string };

let quiet: Endpoint;
/** The quiet endpoint's secrets. The new one signs from `crowdDueAt` on. */
let secrets: readonly [old: string, next: string];
let crowdDueAt: number;
let busyId: string;
let busyEndpointIds: readonly string[];
/** The crowd's least and greatest delivery id, and the next attempt's time in each row until its retry begins. */
let crowd: Awaited<ReturnType<typeof startRetries>>;
let begunBeforeRetry: Promise<number>;
beforeAll(async () => {
  const { stack, receiver } = delivery;
  const { secret, ...endpoint } = await delivery.createOwner();
  quiet = endpoint;
  busyId = await createAccount(stack);
  const created = await inParallel(BUSY_ENDPOINTS, (number) =>
    createEndpoint(stack, busyId, `https://127.0.0.1:${receiver.port}/busy/${number}`),
  );
  busyEndpointIds = created.map(({ endpointId }) => endpointId);
  // The crowd falls due after the test of first attempts.
  crowdDueAt = Date.now() + CROWD.dueInMs;
  const rotation = { ...quiet, signsFrom: timestampFromMs(crowdDueAt) };
  const next = await stack.client(EndpointService).rotateSecret(rotation);
  secrets = [secret, next.secret];
  await donate();
  const [, hanging = ""] = busyEndpointIds;
  // The quiet account's retry is due after the crowd, so in order of time it would come last.
  await startRetries(crowdDueAt + 1_000, quiet, 1);
  const busy = { accountId: busyId, endpointId: hanging };
  crowd = await startRetries(crowdDueAt, busy, CROWD.retries);
  begunBeforeRetry = countBegunBeforeRetry();
  // Ignores a failure here, because the test that awaits this promise reports it.
  begunBeforeRetry.catch(() => undefined);
}, CROWD.timeoutMs);
afterEach(async () => {
  // Truncates, because after a DELETE the next claim would scan the deleted rows until the server purges them.
  await delivery.stack.database.query("TRUNCATE TABLE outbox_entry");
  for (const socket of delivery.receiver.sockets()) socket.destroy();
});

it("makes a first attempt before all but a few of 100,000 deliveries to endpoints that hang", async () => {
  const { stack } = delivery;
  const backlog = { accountId: busyId, endpointIds: busyEndpointIds, count: BACKLOG };
  await writePending(stack.database, backlog);
  const endsAt = performance.now() + MEASURED_MS;
  const isOver = () => performance.now() >= endsAt;
  expect(await mostBeforeFirstAttempts(busyRequests, isOver)).toBeLessThan(FEW);
  expect(busyRequests()).toBeGreaterThan(BUSY_ENDPOINTS);
}, 90_000);

it(
  "makes a first attempt before a third of another account's crowd that is due, at an endpoint that hangs",
  async () => {
    await wait(Math.max(0, crowdDueAt - Date.now()));
    // The last donation is made while the crowd's retries begin.
    const isOver = (begun: number) => begun >= CROWD.retries / 20 && hasRetryArrived;
    const most = await mostBeforeFirstAttempts(begunOfCrowd, isOver);
    expect(most).toBeLessThan(CROWD.retries / 3);
  },
  CROWD.timeoutMs,
);

it(
  "makes a retry before a third of another account's crowd that was due sooner, at an endpoint that hangs",
  async () => expect(await begunBeforeRetry).toBeLessThan(CROWD.retries / 3),
  CROWD.timeoutMs,
);

it("signs with an endpoint's new secret from the planned time on, so a receiver with both refuses nothing", async () => {
  const all = await Promise.all(verified);
  expect(all.filter((each) => typeof each === "string")).toEqual([]);
  const [old, next] = secrets;
  expect(all).toEqual(expect.arrayContaining([[old], [next]]));
});

/**
 * Returns the secrets that may sign a request that arrives now. Only the old one signs before the rotation. Only the
 * new one signs events that are made after the rotation.
 */
const validSecrets = (createdAt: number) =>
  secrets.slice(createdAt < crowdDueAt ? 0 : 1, Date.now() < crowdDueAt ? 1 : 2);

/** Donates to the quiet account until `isOver`. Returns the most that `count` rose from a donation to its event. */
async function mostBeforeFirstAttempts(
  count: () => number | Promise<number>,
  isOver: (counted: number) => boolean,
): Promise<number> {
  const before: number[] = [];
  let already: number;
  do {
    await wait(500);
    already = await count();
    await donate();
    before.push((await count()) - already);
  } while (!isOver(already));
  process.stderr.write(`before first attempts: ${before.join(", ")}\n`);
  return Math.max(...before);
}

/** Donates to the quiet account and waits for the event. */
async function donate(): Promise<void> {
  const { recordId } = await createPaidDonation(delivery.stack, quiet.accountId);
  const patient = { timeout: ARRIVES_WITHIN_MS, interval: 5 };
  await vi.waitUntil(() => arrived.has(recordId), patient);
}

/** Waits for the quiet account's retry. Returns how many of the crowd began before it. */
async function countBegunBeforeRetry(): Promise<number> {
  await vi.waitUntil(() => hasRetryArrived, { timeout: CROWD.timeoutMs, interval: 20 });
  const sinceDueMs = Date.now() - crowdDueAt - 1_000;
  const begun = await begunOfCrowd();
  process.stderr.write(
    `a retry beside ${CROWD.retries}: ${sinceDueMs} ms after it was due, ${begun} of the crowd before it\n`,
  );
  return begun;
}

/** Counts by ids, because the endpoint also has deliveries of another test. */
async function begunOfCrowd(): Promise<number> {
  const [begun] = await delivery.stack.database.query<{ n: number }>(
    "SELECT COUNT(*) AS n FROM delivery WHERE id BETWEEN ? AND ? AND next_attempt_at <> ?",
    [...crowd],
  );
  return begun?.n ?? Number.NaN;
}

/**
 * Starts workflows of an endpoint whose retries are all due at the same moment. Returns the least and greatest delivery
 * id, and the next attempt's time in each row until its retry begins.
 */
async function startRetries(
  dueAt: number,
  { accountId, endpointId }: Endpoint,
  count: number,
): Promise<readonly [least: string, greatest: string, plannedAt: number]> {
  const retries = { accountId, endpointIds: [endpointId], count };
  const failedOnce = { state: DeliveryState.RETRYING, attempts: 1, nextAttemptSeconds: 60 };
  const ids = await writeDeliveries(delivery.stack.database, retries, failedOnce);
  const [least = "", greatest = ""] = [ids.at(0), ids.at(-1)];
  const [planned] = await delivery.stack.database.query<{ at: number }>(
    "SELECT next_attempt_at AS at FROM delivery WHERE id = ?",
    [least],
  );
  const accountNo = accountNoOf(accountId) ?? 0;
  const connection = await Connection.connect({ address: delivery.temporal().address });
  const client = new WorkflowClient({ connection });
  await inParallel(STARTS_AT_ONCE, async () => {
    for (let deliveryId = ids.pop(); deliveryId !== undefined; deliveryId = ids.pop()) {
      const made = [{ outcome: AttemptOutcome.Timeout, endedAtMs: Date.now() }];
      const target = { client, taskQueue: TASK_QUEUE, nowMs: Date.now };
      const dueInMs = Math.max(1, dueAt - Date.now());
      await beginWorkflow(target, { accountNo, deliveryId, run: 1, made }, dueInMs);
    }
  });
  await connection.close();
  return [least, greatest, planned?.at ?? 0];
}
