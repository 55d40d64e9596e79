import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AttemptOutcome, DeliveryService, DeliveryState, EndpointService } from "@activity/proto";
import { Permission } from "@activity/server";
import { Connection, WorkflowClient } from "@temporalio/client";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { deliverWorkflowId } from "../../workflows/src/workflow/contract.ts";
import { ROOT } from "../architecture/import-rule.ts";
import { startReceiver } from "../delivery/harness-receiver.ts";
import { answer } from "../delivery/harness-receiver-behaviours.ts";
import { createAccount, createEndpoint, unique } from "../harness/builders.ts";
import { clientsOf } from "../harness/clients.ts";
import { useTestDatabase } from "../harness/database.ts";
import { useTemporal } from "../harness/temporal.ts";
import { useFolder, useStarted } from "../harness/use-started.ts";
import { createFront, type Front } from "../operating/harness-front.ts";
import {
  KEYS,
  type Part,
  type PartName,
  useParts,
  useTrustedReceiver,
} from "../operating/harness-parts.ts";
import { startStories } from "../operating/harness-stories.ts";
import { checkOutPrevious } from "./harness-previous.ts";

/** The time limit of a retry, which is due after a minute. §6.4 */
const RETRIED = { timeout: 180_000, interval: 200 };
const PATIENT = { timeout: 60_000, interval: 50 };
/** The number of stories in each state of the upgrade. */
const STORIES = 4;

/** The folders of the two versions. */
const NEW = ROOT;
let OLD: string;
const folder = useFolder("upgrade");
const database = useTestDatabase({ migrated: false });
const temporal = useTemporal(folder);
const trusted = useTrustedReceiver(folder, answer(200));
/** A receiver whose answers the test sets. */
const failing = useStarted(() => startReceiver(answer(503), trusted.certificates.good));
let connection: Connection;
let shared: Record<string, string>;
let credential = "";

beforeAll(async () => {
  OLD = checkOutPrevious();
  connection = await Connection.connect({ address: temporal.address });
  shared = {
    ...{ ...KEYS, DATABASE_URL: database.url, CORE_PORT: "0", GATEWAY_PORT: "0" },
    ...{ TRUSTED_PROXIES: "127.0.0.1/32", TEMPORAL_ADDRESS: temporal.address },
    ...trusted.trusting,
    WEBHOOK_ALLOWED_TARGETS: `${trusted.target},127.0.0.1:${failing.port}`,
  };
}, 600_000);
afterAll(() => connection?.close());
const startPart = useParts();

/** Starts a part of the version in `root`, with a core if it needs one. */
async function start(
  name: PartName,
  root: string,
  core?: Part,
  env: Readonly<Record<string, string>> = {},
): Promise<Part> {
  const toCore = { GATEWAY_CREDENTIAL: credential, CORE_CREDENTIAL: credential };
  const withCore = core && { ...toCore, CORE_URL: `http://127.0.0.1:${core.port}` };
  return startPart(name, { ...shared, ...withCore, ...env }, root);
}

/** Creates a credential with every permission that a version knows, with that version's tool. */
function createCredential(root: string): string {
  const known = readFileSync(join(root, "server/src/service-credential/permission.ts"), "utf8");
  const names = Object.values(Permission).filter((name) => known.includes(`"${name}"`));
  const permissions = names.flatMap((name) => ["--permission", name]);
  const args = ["tools/service-credential.ts", "create", "--name", unique("all"), ...permissions];
  const env = { PATH: process.env.PATH, DATABASE_URL: database.url };
  const options = { cwd: root, env, encoding: "utf8", stdio: "pipe" } as const;
  return execFileSync(process.execPath, args, options).trim();
}

const clientsTo = (core: Part) => clientsOf(`http://127.0.0.1:${core.port}`, credential);

/**
 * How a run's workflow waits for its first retry: with a delayed start, or in a timer after it made the first
 * attempt.
 */
type Waiting = "delayed" | "asleep";
type Retry = { readonly accountId: string; readonly deliveryId: string };

/** Every delivery whose first attempt got the busy answer. */
const begun: Retry[] = [];

/**
 * Sends tests to a busy receiver until one workflow waits in the wanted way. The way depends on the deliveries process
 * that claims the test: almost always the one at the core that got the call.
 */
async function beginRetry(core: Part, wanted: Waiting): Promise<Retry> {
  const client = clientsTo(core);
  const accountId = await createAccount({ client });
  const url = `https://127.0.0.1:${failing.port}/busy`;
  const { endpointId } = await createEndpoint({ client }, accountId, url);
  for (;;) {
    const sent = await client(EndpointService).sendTest({ accountId, endpointId });
    const retry = { accountId, deliveryId: sent.deliveryId };
    begun.push(retry);
    if ((await vi.waitUntil(() => waitingOf(retry), PATIENT)) === wanted) return retry;
  }
}

async function waitingOf(retry: Retry): Promise<Waiting | undefined> {
  const [started, ...others] = await eventsOf(retry);
  const { firstWorkflowTaskBackoff } = started?.workflowExecutionStartedEventAttributes ?? {};
  if (Number(firstWorkflowTaskBackoff?.seconds ?? 0) > 0) return "delayed";
  return others.some((event) => event.timerStartedEventAttributes) ? "asleep" : undefined;
}

/** The events of a delivery's workflow. Empty while it does not exist. */
async function eventsOf({ deliveryId }: Retry) {
  const client = new WorkflowClient({ connection });
  const handle = client.getHandle(deliverWorkflowId({ accountNo: 0, deliveryId, run: 1 }));
  return (await handle.fetchHistory().catch(() => undefined))?.events ?? [];
}

/** The processes that worked on a workflow, in order. */
const workersOf = async (retry: Retry) =>
  (await eventsOf(retry)).flatMap(({ workflowTaskCompletedEventAttributes: task }) =>
    task?.identity ? [Number.parseInt(task.identity, 10)] : [],
  );

async function outcomesOf(core: Part, retry: Retry) {
  const { delivery, attempts } = await clientsTo(core)(DeliveryService).getDelivery(retry);
  return { state: delivery?.state, outcomes: attempts.map(({ outcome }) => outcome) };
}

it("runs beside the version before on the new schema without a failed call, read or attempt, and ends that version's retries. ADR 0044", async () => {
  const [cores, gateways] = [createFront(), createFront()];
  const leave = async (front: Front, part: Part) => {
    await front.remove(part.port);
    await part.stop();
  };
  const oldCore = await start("core", OLD);
  credential = createCredential(OLD);
  const oldGateway = await start("gateway", OLD, oldCore);
  const oldDeliveries = await start("deliveries", OLD, oldCore);
  cores.add(oldCore.port);
  gateways.add(oldGateway.port);
  const { receiver } = trusted;
  const stories = startStories({ cores, gateways, receiver, credential: () => credential });
  await stories.more(STORIES);

  // The new core migrates while the old one works.
  const newCore = await start("core", NEW);
  cores.add(newCore.port);
  await stories.more(STORIES);

  // Each version's deliveries use the other version's core. Afterwards only old deliveries start retries.
  await oldDeliveries.stop();
  const atNewCore = await start("deliveries", OLD, newCore);
  const newAtOldCore = await start("deliveries", NEW, oldCore);
  await stories.more(STORIES);
  await newAtOldCore.stop();
  const whole = await start("deliveries", OLD, oldCore, { DELIVERY_WORKFLOWS: "all" });
  const delayed = await beginRetry(newCore, "delayed");
  const asleep = await beginRetry(oldCore, "asleep");
  for (const part of [atNewCore, whole]) await part.kill();
  expect(await workersOf(delayed)).toEqual([]);
  expect([atNewCore.pid, whole.pid]).toEqual(expect.arrayContaining(await workersOf(asleep)));
  failing.behaviour = answer(204);
  const newDeliveries = await start("deliveries", NEW, newCore);

  // Each version's gateway uses each version's core.
  const oldGatewayAtNewCore = await start("gateway", OLD, newCore);
  const newGatewayAtOldCore = await start("gateway", NEW, oldCore);
  const newGateway = await start("gateway", NEW, newCore);
  for (const { port } of [oldGatewayAtNewCore, newGatewayAtOldCore, newGateway]) gateways.add(port);
  await stories.more(STORIES);

  // A restarted old core gets the new schema.
  await leave(gateways, oldGateway);
  await leave(gateways, newGatewayAtOldCore);
  await leave(cores, oldCore);
  const restarted = await start("core", OLD);
  cores.add(restarted.port);
  await stories.more(STORIES);

  // The old processes end.
  await leave(gateways, oldGatewayAtNewCore);
  await leave(cores, restarted);
  await stories.more(STORIES);
  for (const retry of begun) {
    await expect
      .poll(() => outcomesOf(newCore, retry), RETRIED)
      .toEqual({
        state: DeliveryState.DELIVERED,
        outcomes: [AttemptOutcome.RECEIVER_BUSY, AttemptOutcome.DELIVERED],
      });
    const isCompleted = async () =>
      (await eventsOf(retry)).at(-1)?.workflowExecutionCompletedEventAttributes;
    await expect.poll(isCompleted, RETRIED).toBeTruthy();
    const events = await eventsOf(retry);
    expect(events.filter((event) => event.workflowTaskFailedEventAttributes)).toEqual([]);
    expect((await workersOf(retry)).at(-1)).toBe(newDeliveries.pid);
  }
  expect(failing.requests).toHaveLength(2 * begun.length);
  await stories.stop();
  for (const part of startPart.parts) expect(part.output()).not.toContain('"level":"error"');
});
