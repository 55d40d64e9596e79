import { setImmediate as turn } from "node:timers/promises";
import { AttemptOutcome, DeliveryService, DeliveryState, DispatchService } from "@activity/proto";
import { readDeliveryConfig, startDeliveries } from "@activity/workflows";
import { createRouterTransport } from "@connectrpc/connect";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { createApiKey, createPaidDonation } from "../harness/builders.ts";
import { QUIET } from "../harness/quiet.ts";
import { attemptNumbersOf, bodyOf, useDeliveryStack, verifyRequest } from "./harness-deliveries.ts";
import type { ReceivedRequest } from "./harness-receiver.ts";
import { answer } from "./harness-receiver-behaviours.ts";

const delivery = useDeliveryStack(answer(200));
let owner: Awaited<ReturnType<typeof delivery.createOwner>>;
let accountId: string;
beforeEach(async () => {
  delivery.receiver.behaviour = answer(200);
  owner = await delivery.createOwner();
  accountId = owner.accountId;
});

const statesOf = () => delivery.statesOf(accountId);
const settled = { timeout: 15_000, interval: 50 };
/**
 * The log lines while Temporal is away, before and after it was first reached. They show an error's class and its
 * places in the code, but not its text.
 */
const AWAY =
  /"(?:begin of retries failed|retries wait for Temporal)","cause":{"name":"\w+",.*"at":\["/;

it("delivers the owner's test event, signed, and shows its attempt", async () => {
  const { deliveryId, eventId } = await delivery.sendTest(owner);
  await expect.poll(() => delivery.requestsOf(eventId).length, settled).toBe(1);
  const requests = delivery.requestsOf(eventId);
  expect(attemptNumbersOf(requests)).toEqual([1]);
  const [request] = requests as [ReceivedRequest];
  await verifyRequest(request, owner.secret);
  expect(bodyOf(request)).toMatchObject({ type: "donation.created", test: true });
  await expect.poll(statesOf, settled).toEqual([DeliveryState.DELIVERED]);
  const read = await delivery.read(accountId, deliveryId);
  expect(read.attempts).toMatchObject([
    { run: 1, attempt: 1, outcome: AttemptOutcome.DELIVERED, statusCode: 200 },
  ]);
  expect(Buffer.from(read.payload)).toEqual(request.body);
  expect(Buffer.from(read.attempts[0]?.responseBody ?? []).toString()).toBe("ok");
  expect(read.attempts[0]?.responseHeaders).toContain("content-length: 2\n");
});

it("sends the event of a donation once", async () => {
  const { recordId } = await createPaidDonation(delivery.stack, accountId, { donorName: "Zoë" });
  const mine = () =>
    delivery.receiver.requests.filter((request) => bodyOf(request).data.id === recordId);
  await expect.poll(() => mine().length, settled).toBe(1);
  await expect.poll(statesOf, settled).toEqual([DeliveryState.DELIVERED]);
  expect(mine()).toHaveLength(1);
});

it("ends a run at an answer that is not retried, and a manual retry sends the same bytes again", async () => {
  delivery.receiver.behaviour = answer(404);
  const { deliveryId, eventId } = await delivery.sendTest(owner);
  await expect.poll(statesOf, settled).toEqual([DeliveryState.FAILED]);
  // The answer waits until all three calls are made. A call after the success would be refused.
  const asked = Promise.withResolvers<void>();
  delivery.receiver.behaviour = (socket, request) =>
    void asked.promise.then(() => answer(204)(socket, request));
  const deliveries = delivery.stack.client(DeliveryService);
  await Promise.all([1, 2, 3].map(() => deliveries.retryDelivery({ accountId, deliveryId })));
  asked.resolve();
  await expect.poll(statesOf, settled).toEqual([DeliveryState.DELIVERED]);
  const requests = delivery.requestsOf(eventId);
  expect(attemptNumbersOf(requests)).toEqual([1, 1]);
  const [first, second] = requests;
  expect(second?.body).toEqual(first?.body);
  for (const request of requests) await verifyRequest(request, owner.secret);
  const outcomes = async () =>
    (await delivery.read(accountId, deliveryId)).attempts.map(({ run, outcome }) => [run, outcome]);
  const twice = [
    [1, AttemptOutcome.ROUTE_NOT_FOUND],
    [2, AttemptOutcome.DELIVERED],
  ];
  expect(await outcomes()).toEqual(twice);
  // ADR 0053: an owner may also retry what was delivered.
  await deliveries.retryDelivery({ accountId, deliveryId, includeDelivered: true });
  await expect.poll(outcomes, settled).toEqual([...twice, [3, AttemptOutcome.DELIVERED]]);
  expect(delivery.requestsOf(eventId)[2]?.body).toEqual(first?.body);
});

it("sends no claim once it drains, even if it reaches Temporal only then. ADR 0043", async () => {
  let claims = 0;
  const claim = () => {
    claims += 1;
    return {};
  };
  const runs = Promise.withResolvers<void>();
  const deliveries = startDeliveries({
    config: readDeliveryConfig({
      TEMPORAL_ADDRESS: delivery.temporal().address,
      DELIVERY_WORKFLOWS: "all",
    }),
    core: createRouterTransport(({ rpc }) => {
      rpc(DispatchService.method.getInstallation, () => ({ id: "0123456789ab" }));
      rpc(DispatchService.method.claimAttempts, claim);
      rpc(DispatchService.method.claimRetries, claim);
    }),
    log: { ...QUIET, info: () => runs.resolve() },
  });
  deliveries.drain();
  await runs.promise;
  // Waits for a turn, in which a claim would have reached the core.
  await turn();
  await deliveries.stop();
  expect(claims).toBe(0);
});

it("delivers first attempts while Temporal is away, and keeps retries until it is back. ADR 0028", async () => {
  await delivery.killTemporal();
  const { recordId } = await createPaidDonation(delivery.stack, accountId);
  await expect.poll(statesOf, settled).toEqual([DeliveryState.DELIVERED]);
  const { text: apiKey } = await createApiKey(delivery.stack, accountId);
  const page = await delivery.stack.http("/api/v1/activity", { apiKey });
  expect([page.status, page.text]).toEqual([200, expect.stringContaining(`don_${recordId}`)]);

  delivery.receiver.behaviour = answer(503);
  const { deliveryId, eventId } = await delivery.sendTest(owner);
  const waiting = () => delivery.entriesOf(deliveryId);
  await expect.poll(statesOf, settled).toEqual([DeliveryState.RETRYING, DeliveryState.DELIVERED]);
  const failures = () => delivery.stack.log.filter((line) => AWAY.test(line)).length;
  await expect.poll(failures, { timeout: 30_000 }).toBeGreaterThan(0);
  expect(await waiting()).toHaveLength(1);
  await delivery.restartTemporal();
  await expect.poll(waiting, { timeout: 50_000, interval: 200 }).toEqual([]);
  // Counts first attempts only, because a slow machine may have made the retry already.
  const first = attemptNumbersOf(delivery.requestsOf(eventId)).filter((number) => number === 1);
  expect(first).toHaveLength(1);
  // The summary in Temporal's UI has the first attempt's outcome before the workflow starts. The call that reads it
  // must not go through the machine's proxy, so this names a proxy that does not exist.
  vi.stubEnv("http_proxy", "http://127.0.0.1:1");
  onTestFinished(() => void vi.unstubAllEnvs());
  const described = await delivery.askWorkflow(deliveryId, (workflow) => workflow.describe());
  expect(await described.staticSummary()).toBe("attempt 1: receiver_busy");
}, 90_000);
