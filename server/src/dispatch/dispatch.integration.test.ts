import { AttemptOutcome, DeliveryState, type SequenceKey, WebhookEventKind } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Services, startServices } from "../../../test/harness/services.ts";

let services: Services;
let accountId: string;
let endpointId: string;
let secret: string;
beforeAll(async () => {
  services = await startServices();
});
afterAll(() => services.stop());
beforeEach(async () => {
  await services.database.query("DELETE FROM outbox_entry");
  accountId = await services.createAccount();
  const kinds = { kinds: [WebhookEventKind.DONATION_CREATED] };
  const url = "https://example.com/hook";
  const created = await services.endpoints.createEndpoint({ accountId, url, kinds });
  endpointId = created.endpoint?.id ?? "";
  secret = created.secret;
});

const at = timestampFromMs(1_600_000_000_000);
const duration = { seconds: 0n, nanos: 5_000_000 };

async function sendTest(account = accountId, endpoint = endpointId) {
  const sent = await services.endpoints.sendTest({ accountId: account, endpointId: endpoint });
  return sent.deliveryId;
}
const claim = async (limit = 64) => (await services.dispatch.claimDeliveries({ limit })).sequences;
const record = (
  sequence: { deliveryId: string; sequence: number },
  attempt: number,
  outcome: AttemptOutcome,
  retryInSeconds?: number,
) =>
  services.dispatch.recordAttempt({
    sequence,
    attempt,
    startedAt: at,
    duration,
    outcome,
    ...(retryInSeconds && { retryIn: { seconds: BigInt(retryInSeconds) } }),
  });
const deliveryOf = (deliveryId: string) =>
  services.deliveries.getDelivery({ accountId, deliveryId });
const load = async (sequence: { deliveryId: string; sequence: number }, attempt = 1) =>
  (await services.dispatch.loadAttempt({ sequence, attempt })).step;

describe("the outbox", () => {
  it("gives each entry to one of several relays that claim at once", async () => {
    const sent = await Promise.all(Array.from({ length: 40 }, () => sendTest()));
    const claims = await Promise.all(Array.from({ length: 8 }, () => claim(10)));
    const claimed = claims.flat().map((key) => key.deliveryId);
    expect(new Set(claimed).size).toBe(claimed.length);
    const rest = (await claim()).map((key) => key.deliveryId);
    expect([...claimed, ...rest].toSorted()).toEqual(sent.toSorted());
  });

  it("gives an entry out again when its lease is over, and never once it is handed over", async () => {
    const deliveryId = await sendTest();
    expect(await claim()).toHaveLength(1);
    expect(await claim()).toEqual([]);
    await services.database.query("UPDATE outbox_entry SET claimable_at = 0");
    const again = await claim();
    expect(again).toMatchObject([{ deliveryId, sequence: 1 }]);
    await services.dispatch.markHandedOver({ sequences: again });
    await services.dispatch.markHandedOver({ sequences: again });
    await services.database.query("UPDATE outbox_entry SET claimable_at = 0");
    expect(await claim()).toEqual([]);
    const { delivery } = await deliveryOf(deliveryId);
    expect(delivery?.state).toBe(DeliveryState.HANDED_OVER);
  });

  it("draws evenly from accounts, however much one of them has waiting", async () => {
    for (let turn = 0; turn < 30; turn++) await sendTest();
    const kinds = { kinds: [WebhookEventKind.DONATION_CREATED] };
    const others = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const account = await services.createAccount();
        const url = "https://example.com/other";
        const created = { accountId: account, url, kinds };
        const { endpoint } = await services.endpoints.createEndpoint(created);
        return sendTest(account, endpoint?.id ?? "");
      }),
    );
    const first = (await claim(12)).map((key) => key.deliveryId);
    expect(first).toEqual(expect.arrayContaining(others));
  });

  it("wakes a claim that waits when something is committed", async () => {
    const waiting = services.dispatch.claimDeliveries({ limit: 64, wait: { seconds: 10n } });
    const started = performance.now();
    const deliveryId = await sendTest();
    expect((await waiting).sequences).toMatchObject([{ deliveryId }]);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe("an attempt", () => {
  it("is loaded with the URL and secret as they are now, and the bytes as they were made", async () => {
    const sequence = { deliveryId: await sendTest(), sequence: 1 };
    const before = await load(sequence);
    expect(before).toMatchObject({
      case: "ready",
      value: { url: "https://example.com/hook", secret, standardWebhooks: false },
    });
    const rotated = await services.endpoints.rotateSecret({ accountId, endpointId });
    const url = "https://example.org/next";
    await services.endpoints.updateEndpoint({ accountId, endpointId, url, standardWebhooks: true });
    const after = await load(sequence);
    expect(after).toMatchObject({
      case: "ready",
      value: { url, secret: rotated.secret, standardWebhooks: true },
    });
    expect(rotated.secret).not.toBe(secret);
    const payloads = [before, after].map((step) => step.case === "ready" && step.value.payload);
    expect(payloads[0]).toEqual(payloads[1]);
  });

  it("is recorded once: the second record changes nothing and is answered with the first", async () => {
    const sequence = { deliveryId: await sendTest(), sequence: 1 };
    await record(sequence, 1, AttemptOutcome.TIMEOUT, 60);
    const second = await record(sequence, 1, AttemptOutcome.DELIVERED);
    expect(second.outcome).toBe(AttemptOutcome.TIMEOUT);
    const { delivery, attempts } = await deliveryOf(sequence.deliveryId);
    expect(delivery).toMatchObject({ state: DeliveryState.HANDED_OVER, attempts: 1 });
    expect(delivery?.nextAttemptAt).toBeDefined();
    expect(attempts).toHaveLength(1);
    expect(await load(sequence)).toEqual({ case: "recorded", value: AttemptOutcome.TIMEOUT });
  });

  it.each([
    [AttemptOutcome.DELIVERED, DeliveryState.DELIVERED],
    [AttemptOutcome.REJECTED, DeliveryState.FAILED],
  ])("with outcome %s ends the delivery in state %s", async (outcome, state) => {
    const sequence = { deliveryId: await sendTest(), sequence: 1 };
    await record(sequence, 1, outcome);
    const { delivery } = await deliveryOf(sequence.deliveryId);
    expect(delivery).toMatchObject({ state, lastOutcome: outcome });
    expect(await load(sequence, 2)).toMatchObject({ case: "ended" });
  });

  it("is not made once the endpoint is off or deleted, and its sequence can be canceled", async () => {
    const off = { deliveryId: await sendTest(), sequence: 1 };
    await services.endpoints.switchOffEndpoint({ accountId, endpointId });
    expect(await load(off)).toMatchObject({ case: "canceled" });
    await services.dispatch.cancelSequence({ sequence: off });
    expect((await deliveryOf(off.deliveryId)).delivery?.state).toBe(DeliveryState.CANCELED);
    await services.endpoints.switchOnEndpoint({ accountId, endpointId });
    const deleted = { deliveryId: await sendTest(), sequence: 1 };
    await services.endpoints.deleteEndpoint({ accountId, endpointId });
    expect(await load(deleted)).toMatchObject({ case: "canceled" });
  });
});

describe("a manual retry", () => {
  it("begins one new sequence, however often it is asked for at once", async () => {
    const first = { deliveryId: await sendTest(), sequence: 1 };
    await services.dispatch.markHandedOver({ sequences: (await claim()) as SequenceKey[] });
    await record(first, 1, AttemptOutcome.ROUTE_NOT_FOUND);
    const retry = { accountId, deliveryId: first.deliveryId };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => services.deliveries.retryDelivery(retry)),
    );
    expect(answers.map(({ delivery }) => delivery?.sequence)).toEqual([2, 2, 2, 2, 2]);
    expect(await claim()).toMatchObject([{ deliveryId: first.deliveryId, sequence: 2 }]);
    expect(await load(first, 2)).toMatchObject({ case: "ended" });
    await record({ ...first, sequence: 2 }, 1, AttemptOutcome.DELIVERED);
    await expect(services.deliveries.retryDelivery(retry)).rejects.toThrow("succeeded");
    expect((await deliveryOf(first.deliveryId)).attempts).toHaveLength(2);
  });

  it("of all failed in a range takes those and no others", async () => {
    const failed = { deliveryId: await sendTest(), sequence: 1 };
    const delivered = { deliveryId: await sendTest(), sequence: 1 };
    await record(failed, 1, AttemptOutcome.REJECTED);
    await record(delivered, 1, AttemptOutcome.DELIVERED);
    const ever = { since: timestampFromMs(0), until: timestampFromMs(4e12) };
    const never = { since: timestampFromMs(0), until: timestampFromMs(1) };
    const call = { accountId, endpointId };
    const retryFailed = services.deliveries.retryFailedDeliveries;
    expect((await retryFailed({ ...call, ...never })).retried).toBe(0n);
    expect((await retryFailed({ ...call, ...ever })).retried).toBe(1n);
    expect((await retryFailed({ ...call, ...ever })).retried).toBe(0n);
  });
});

describe("the list of deliveries", () => {
  it("shows each once over its pages, newest first, and only what the filters name", async () => {
    const sent: string[] = [];
    for (let turn = 0; turn < 7; turn++) sent.push(await sendTest());
    await record({ deliveryId: sent[0] ?? "", sequence: 1 }, 1, AttemptOutcome.REJECTED);
    const seen: string[] = [];
    let pageToken = "";
    do {
      const page = await services.deliveries.listDeliveries({ accountId, pageSize: 3, pageToken });
      seen.push(...page.deliveries.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(seen).toEqual(sent.toReversed());
    const filtered = async (filter: object) =>
      (await services.deliveries.listDeliveries({ accountId, ...filter })).deliveries.map(
        ({ id }) => id,
      );
    expect(await filtered({ state: DeliveryState.FAILED })).toEqual([sent[0]]);
    expect(await filtered({ kind: WebhookEventKind.DONATION_REFUNDED })).toEqual([]);
    expect(await filtered({ endpointId: "nobodyendpoint0" })).toEqual([]);
    expect(await filtered({ until: timestampFromMs(1) })).toEqual([]);
    await expect(filtered({ pageToken: "x" })).rejects.toThrow("page_token is no token");
  });

  it("goes on with a token only for the account and the filters that it was issued for", async () => {
    await sendTest();
    await sendTest();
    const filters = { endpointId, until: timestampFromMs(4e12) };
    const list = services.deliveries.listDeliveries;
    const { nextPageToken } = await list({ accountId, ...filters, pageSize: 1 });
    const next = { accountId, ...filters, pageToken: nextPageToken };
    expect((await list({ ...next, pageSize: 2 })).deliveries).toHaveLength(1);
    const others = [
      { accountId: await services.createAccount() },
      { endpointId: "" },
      { state: DeliveryState.WAITING },
      { kind: WebhookEventKind.DONATION_CREATED },
      { since: timestampFromMs(0) },
      { until: timestampFromMs(4e12 - 1) },
    ];
    for (const other of others) {
      await expect(list({ ...next, ...other })).rejects.toMatchObject({
        code: "invalid_parameter",
        message: expect.stringContaining("another account or to other filters"),
      });
    }
  });
});

describe("endpoints", () => {
  it("are at most ten an account, also when calls race", async () => {
    const kinds = { kinds: [WebhookEventKind.DONATION_CREATED] };
    const url = "https://example.com/hook";
    const created = await Promise.allSettled(
      Array.from({ length: 15 }, () =>
        services.endpoints.createEndpoint({ accountId, url, kinds }),
      ),
    );
    expect(created.filter(({ status }) => status === "fulfilled")).toHaveLength(9);
    const { endpoints } = await services.endpoints.listEndpoints({ accountId });
    expect(endpoints).toHaveLength(10);
  });

  it("keep their secret encrypted, and lose it when they are deleted", async () => {
    const stored = () =>
      services.database.query<{ secret: Buffer; url: string }>(
        "SELECT secret, url FROM endpoint WHERE id = ?",
        [endpointId],
      );
    const [before] = await stored();
    expect(before?.secret.includes(secret.slice(6))).toBe(false);
    await services.endpoints.deleteEndpoint({ accountId, endpointId });
    expect(await stored()).toEqual([{ secret: Buffer.alloc(0), url: "" }]);
    await expect(services.endpoints.getEndpoint({ accountId, endpointId })).rejects.toThrow();
  });
});
