import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { EndpointService } from "@activity/proto";
import { Permission } from "@activity/server";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { silentProgress } from "../../tools/stack/progress.ts";
import { type RunningTemporal, startTemporal } from "../../tools/stack/temporal.ts";
import { createAccount, createPaidDonation } from "../harness/builders.ts";
import { startTestStack, type TestStack } from "../harness/stack.ts";
import { ALL_KINDS, headerOf } from "./harness-deliveries.ts";
import { type Receiver, startReceiver } from "./harness-receiver.ts";
import { answer } from "./harness-receiver-behaviours.ts";
import { makeCertificates } from "./harness-receiver-certificates.ts";

const EVENTS = 400;
const WRITERS = 4;
const KILLS = 3;

let folder: string;
let temporal: RunningTemporal;
let receiver: Receiver;
let stack: TestStack;
let environment: NodeJS.ProcessEnv;
const children = new Set<ChildProcess>();

const startServer = () =>
  startTemporal({ env: process.env, dataDir: join(folder, "temporal"), progress: silentProgress });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "activity-crash-"));
  const certificates = makeCertificates();
  const extraCa = join(folder, "ca.pem");
  await writeFile(extraCa, certificates.ca);
  receiver = await startReceiver(answer(200), certificates.good);
  temporal = await startServer();
  const allowed = { WEBHOOK_ALLOWED_TARGETS: `127.0.0.1:${receiver.port}` };
  stack = await startTestStack({ env: allowed });
  environment = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    ...allowed,
    WEBHOOK_EXTRA_CA: extraCa,
    TEMPORAL_ADDRESS: temporal.address,
    CORE_URL: `http://127.0.0.1:${stack.corePort}`,
    CORE_CREDENTIAL: await stack.credential(Permission.DeliveryDispatch),
  };
});
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await stack.stop();
  await temporal.stop();
  await receiver.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Starts a relay and a worker as a process of their own. */
function startDeliverer(): ChildProcess {
  const child = spawn(process.execPath, ["workflows/src/main.ts"], {
    env: environment,
    stdio: "ignore",
  });
  children.add(child);
  return child;
}

let accountId: string;
let received: number;
beforeEach(async () => {
  accountId = await createAccount(stack);
  const url = `https://127.0.0.1:${receiver.port}/hook`;
  const kinds = { kinds: ALL_KINDS };
  await stack.client(EndpointService).createEndpoint({ accountId, url, kinds });
  received = receiver.requests.length;
});

/** Makes donations, at a pace that leaves some in flight at every moment. */
async function donate(): Promise<void> {
  const writers = Array.from({ length: WRITERS }, async () => {
    for (let turn = 0; turn < EVENTS / WRITERS; turn++) {
      await createPaidDonation(stack, accountId);
      await wait(10);
    }
  });
  await Promise.all(writers);
}

/** Waits until no delivery is under way, and holds that none is lost and no bytes differ. */
async function expectAllDelivered(): Promise<{ duplicates: number }> {
  const states = () =>
    stack.database.query<{ state: number; deliveries: number }>(
      `SELECT state, COUNT(*) AS deliveries FROM delivery
       WHERE account_no = (SELECT account_no FROM account WHERE id = ?) GROUP BY state`,
      [accountId],
    );
  await expect
    .poll(states, { timeout: 90_000, interval: 500 })
    .toEqual([{ state: 3, deliveries: EVENTS }]);
  const bytes = new Map<string, Buffer>();
  let duplicates = 0;
  for (const request of receiver.requests.slice(received)) {
    const id = headerOf(request, "Service-Event-Id");
    const before = bytes.get(id);
    if (before === undefined) bytes.set(id, request.body);
    else {
      duplicates += 1;
      expect(request.body).toEqual(before);
    }
  }
  expect(bytes.size).toBe(EVENTS);
  await expect
    .poll(() => stack.database.query("SELECT 1 FROM outbox_entry"), { timeout: 40_000 })
    .toEqual([]);
  return { duplicates };
}

describe("no event is lost", () => {
  it(`when relay and worker are killed ${KILLS} times at any moment`, async () => {
    let child = startDeliverer();
    const donated = donate();
    for (let kill = 0; kill < KILLS; kill++) {
      await wait(randomInt(1_200, 3_000));
      child.kill("SIGKILL");
      child = startDeliverer();
    }
    await donated;
    const { duplicates } = await expectAllDelivered();
    process.stderr.write(`worker killed ${KILLS} times: 0 lost, ${duplicates} sent twice\n`);
    child.kill("SIGKILL");
  }, 150_000);

  it(`when Temporal is killed ${KILLS} times at any moment`, async () => {
    const child = startDeliverer();
    const donated = donate();
    for (let kill = 0; kill < KILLS; kill++) {
      await wait(randomInt(1_200, 3_000));
      await temporal.kill();
      temporal = await startServer();
    }
    await donated;
    const { duplicates } = await expectAllDelivered();
    process.stderr.write(`Temporal killed ${KILLS} times: 0 lost, ${duplicates} sent twice\n`);
    child.kill("SIGKILL");
  }, 150_000);

  it("or sent twice when two relays and workers run side by side without faults", async () => {
    const pair = [startDeliverer(), startDeliverer()];
    await wait(2_500);
    await donate();
    expect(await expectAllDelivered()).toEqual({ duplicates: 0 });
    for (const child of pair) child.kill("SIGKILL");
  }, 150_000);
});
