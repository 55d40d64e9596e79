import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { DeliveryState } from "@activity/proto";
import { PROCESS_TIMING as timing } from "@activity/runtime/timing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRecorder } from "../../workflows/src/attempt/recorder.ts";
import { startFirstAttempts } from "../../workflows/src/dispatcher/first-attempts.ts";
import { createEgressProxy, ProxyFailure } from "../../workflows/src/http/egress-proxy.ts";
import { createSender } from "../../workflows/src/http/sender.ts";
import { QUIET } from "../harness/quiet.ts";
import { useServices } from "../harness/services.ts";
import { answer } from "./harness-receiver-behaviours.ts";
import { createSenderHarness } from "./harness-receiver-sender.ts";
import { type RunningTinyproxy, startTinyproxy } from "./harness-tinyproxy.ts";

const services = useServices();
const log = QUIET;

let tinyproxy: RunningTinyproxy;
let harness: ReturnType<typeof createSenderHarness>;
beforeAll(async () => {
  tinyproxy = await startTinyproxy();
  harness = createSenderHarness({ proxy: createEgressProxy(tinyproxy.url) });
});
afterAll(async () => {
  await harness?.stop();
  await tinyproxy?.stop();
});

describe("an attempt by way of the egress proxy, ADR 0027", () => {
  it("asks it for the checked address and not for a name, and keeps the connection", async () => {
    const receiver = await harness.receive(answer(200));
    for (let times = 0; times < 2; times++) {
      expect(await harness.post(receiver)).toMatchObject({ outcome: "delivered", status: 200 });
    }
    expect(receiver.connectionCount()).toBe(1);
    expect(await tinyproxy.connectedTo()).toEqual([`127.0.0.1:${receiver.port}`]);
  });

  it("checks the target before it asks the proxy", async () => {
    const before = await tinyproxy.connectedTo();
    const report = await harness.post({ port: 1 });
    expect(report).toMatchObject({ outcome: "unsafe_target" });
    expect(await tinyproxy.connectedTo()).toEqual(before);
  });

  it("verifies the receiver's certificate for the name in the URL", async () => {
    const receiver = await harness.receive(answer(200), "otherName");
    expect(await harness.post(receiver)).toMatchObject({
      ...{ outcome: "network_error", detail: /for another name/ },
    });
  });

  it("is the receiver's failure where the proxy could not connect to it", async () => {
    const receiver = await harness.receive(answer(200));
    await receiver.stop();
    expect(await harness.post(receiver)).toMatchObject({
      ...{ outcome: "network_error", detail: "the egress proxy could not connect (EPROXYTARGET)" },
    });
  });
});

describe("an attempt is not made, and nothing is sent, while the egress proxy", () => {
  const silent = createServer();
  beforeAll(() => once(silent.listen(0, "127.0.0.1"), "listening"));
  afterAll(() => silent.close());

  it.each([
    ["refuses connections", () => new URL("http://127.0.0.1:1"), /ECONNREFUSED/],
    [
      "accepts and does not speak TLS",
      () => new URL(`https://127.0.0.1:${(silent.address() as AddressInfo).port}`),
      /it does not accept/,
    ],
    [
      "knows another password",
      () => new URL(`http://owner:x@${tinyproxy.url.host}`),
      /it answered 40/,
    ],
  ])("%s", async (_, urlOf, said) => {
    const receiver = await harness.receive(answer(200));
    const { ca } = harness.certificates;
    const allowedLoopback = new Set([`127.0.0.1:${receiver.port}`]);
    const proxy = createEgressProxy(urlOf());
    const sender = createSender({ extraCa: ca, allowedLoopback, proxy });
    const url = `https://127.0.0.1:${receiver.port}/`;
    const failure = await sender.attempt({ url, headers: {}, body: Buffer.alloc(0) }).then(
      () => expect.unreachable(),
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(ProxyFailure);
    expect(String(failure)).toMatch(said);
    expect(receiver.connectionCount()).toBe(0);
    sender.close();
  });
});

it("an event whose proxy was away has used up no attempt, and is delivered once it is back. §6.4, ADR 0027", async () => {
  const own = await startTinyproxy();
  const proxy = createEgressProxy(own.url);
  await own.stop();
  const through = createSenderHarness({ proxy });
  const receiver = await through.receive(answer(200));
  let failed = 0;
  const sender = {
    ...through.sender,
    attempt: (request: Parameters<typeof through.sender.attempt>[0]) =>
      through.sender.attempt(request).finally(() => failed++),
  };
  const recorder = createRecorder(services.dispatch, log, timing);
  const { dispatch } = services;
  const poller = startFirstAttempts({ dispatch, sender, recorder, nowMs: Date.now, timing, log });
  const accountId = await services.createAccount();
  const endpointId = await services.createEndpoint(accountId);
  const url = `https://127.0.0.1:${receiver.port}/`;
  await services.database.query("UPDATE endpoint SET url = ? WHERE id = ?", [url, endpointId]);
  const { deliveryId } = await services.sendTest(accountId, endpointId);
  const read = () => services.deliveries.getDelivery({ accountId, deliveryId });
  await expect.poll(() => failed).toBe(1);
  expect(await read()).toMatchObject({
    ...{ delivery: { state: DeliveryState.PENDING }, attempts: [] },
  });

  const back = await startTinyproxy(Number(own.url.port));
  await services.database.query("UPDATE outbox_entry SET leased_until = 0");
  await expect.poll(async () => (await read()).delivery?.state).toBe(DeliveryState.DELIVERED);
  expect((await read()).attempts).toHaveLength(1);
  await poller.stop();
  await recorder.close(0);
  await through.stop();
  await back.stop();
});
