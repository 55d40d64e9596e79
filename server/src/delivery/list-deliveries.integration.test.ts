import { DeliveryState, type ListDeliveriesRequestSchema, WebhookEventKind } from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { writeDeliveries } from "../../../test/harness/backlog.ts";
import { rowCounterOf } from "../../../test/harness/row-reads.ts";
import { type Services, startServices } from "../../../test/harness/services.ts";
import { timestampFromMicros } from "../timestamps.ts";

const PAGE = 50;
/** An entry of the index and the row of each delivery, and the starts of the ranges. */
const FEW = 2 * (PAGE + 1) + 50;
const { DELIVERED, FAILED } = DeliveryState;
const { DONATION_CREATED: CREATED, DONATION_REFUNDED: REFUNDED } = WebhookEventKind;

let services: Services;
let accountId: string;
let created: string;
let refunded: string;

// 10,000 created and delivered to one endpoint, 10,000 refunded and failed at the other; the three oldest of
// the first are refunded and failed too, so that filters which each name many together name three or none.
beforeAll(async () => {
  services = await startServices();
  accountId = await services.createAccount();
  created = await services.createEndpoint(accountId, [CREATED]);
  refunded = await services.createEndpoint(accountId, [REFUNDED]);
  // Those of both endpoints alternate.
  const backlog = { accountId, endpointIds: [created, refunded], count: 20_000 };
  await writeDeliveries(services.database, backlog, { state: DELIVERED, attempts: 1 });
  await services.database.query("UPDATE delivery SET kind = ?, state = ? WHERE endpoint_id = ?", [
    REFUNDED,
    FAILED,
    refunded,
  ]);
  await services.database.query(
    "UPDATE delivery SET kind = ?, state = ? WHERE endpoint_id = ? ORDER BY id LIMIT 3",
    [REFUNDED, FAILED, created],
  );
}, 120_000);
afterAll(() => services.stop());

const ENDPOINTS = ["", "created", "refunded"] as const;
const cases = ENDPOINTS.flatMap((endpoint) =>
  [undefined, DELIVERED, FAILED, DeliveryState.PAUSED].flatMap((state) =>
    [undefined, CREATED, REFUNDED].map((kind) => ({ endpoint, state, kind })),
  ),
);

it.each(cases)(
  "a list reads what it shows and a few rows: $endpoint $state $kind, ADR 0026",
  async (filter) => {
    const { endpoint, state, kind } = filter;
    const endpointId = { "": "", created, refunded }[endpoint];
    const all = (
      await services.database.query<{ id: string }>(
        `SELECT id FROM delivery WHERE (? = '' OR endpoint_id = ?) AND state = COALESCE(?, state)
         AND kind = COALESCE(?, kind) ORDER BY id DESC LIMIT ${2 * PAGE + 1}`,
        [endpointId, endpointId, state ?? null, kind ?? null],
      )
    ).map(({ id }) => id);
    const count = await rowCounterOf(services.database, "delivery");
    const named = { ...(state && { state }), ...(kind && { kind }) };
    let pageToken = "";
    for (const start of [0, PAGE]) {
      const before = await count();
      const call = { accountId, endpointId, ...named, pageSize: PAGE, pageToken };
      const page = await services.deliveries.listDeliveries(call);
      // The ranges that have deliveries are two at most.
      expect((await count()) - before).toBeLessThan(FEW + PAGE);
      expect(page.deliveries.map(({ id }) => id)).toEqual(all.slice(start, start + PAGE));
      expect(page.nextPageToken === "").toBe(all.length <= start + PAGE);
      if (page.nextPageToken === "") break;
      pageToken = page.nextPageToken;
    }
  },
);

describe("the list of deliveries, §6.4", () => {
  let own: string;
  let endpointId: string;
  beforeEach(async () => {
    own = await services.createAccount();
    endpointId = await services.createEndpoint(own);
  });
  const list = async (filter: MessageInitShape<typeof ListDeliveriesRequestSchema> = {}) =>
    services.deliveries.listDeliveries({ accountId: own, ...filter });
  const idsOf = async (filter?: MessageInitShape<typeof ListDeliveriesRequestSchema>) =>
    (await list(filter)).deliveries.map(({ id }) => id);
  async function sendTests(count: number): Promise<string[]> {
    const sent: string[] = [];
    while (sent.length < count) {
      sent.push((await services.sendTest(own, endpointId)).deliveryId);
    }
    return sent;
  }

  it("shows each once over its pages, newest first, and only what the filters name", async () => {
    const sent = await sendTests(7);
    const failed = "UPDATE delivery SET state = ? WHERE id = ?";
    await services.database.query(failed, [FAILED, sent[0]]);
    const seen: string[] = [];
    let pageToken = "";
    do {
      const page = await list({ pageSize: 3, pageToken });
      seen.push(...page.deliveries.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(seen).toEqual(sent.toReversed());
    expect(await idsOf({ state: FAILED })).toEqual([sent[0]]);
    expect(await idsOf({ kind: REFUNDED })).toEqual([]);
    expect(await idsOf({ endpointId: "nobodyendpoint0" })).toEqual([]);
    await expect(list({ pageToken: "x" })).rejects.toThrow("page_token is no token");
  });

  it.each([
    ["alone", () => ({})],
    ["and an endpoint", () => ({ endpointId })],
    ["and a state", () => ({ state: DeliveryState.PENDING })],
  ])("takes since and leaves out until, to the microsecond: times %s", async (_, filter) => {
    const [older = "", middle = "", newer = ""] = await sendTests(3);
    const { delivery } = await services.deliveries.getDelivery({
      accountId: own,
      deliveryId: middle,
    });
    const at = delivery?.createdAt;
    const after = (micros: number): Timestamp => {
      const all = (at?.seconds ?? 0n) * 1_000_000n + BigInt((at?.nanos ?? 0) / 1000 + micros);
      return timestampFromMicros(Number(all));
    };
    const between = (since?: number, until?: number) =>
      idsOf({
        ...filter(),
        ...(since !== undefined && { since: after(since) }),
        ...(until !== undefined && { until: after(until) }),
      });
    expect(await between(0)).toEqual([newer, middle]);
    expect(await between(1)).toEqual([newer]);
    expect(await between(undefined, 0)).toEqual([older]);
    expect(await between(undefined, 1)).toEqual([middle, older]);
    expect(await between(0, 1)).toEqual([middle]);
    expect(await between(0, 0)).toEqual([]);
  });

  it("takes any time that a caller can name", async () => {
    const [only = ""] = await sendTests(1);
    const first = timestampFromDate(new Date("0001-01-01T00:00:00Z"));
    const last = timestampFromDate(new Date("9999-12-31T23:59:59Z"));
    expect(await idsOf({ since: first, until: last })).toEqual([only]);
    expect(await idsOf({ since: last })).toEqual([]);
    expect(await idsOf({ until: first })).toEqual([]);
  });

  it("goes on with a token only for the account and the filters that it was issued for", async () => {
    await sendTests(2);
    const filters = { endpointId, until: timestampFromMs(3e12) };
    const { nextPageToken } = await list({ ...filters, pageSize: 1 });
    const next = { ...filters, pageToken: nextPageToken };
    expect((await list({ ...next, pageSize: 2 })).deliveries).toHaveLength(1);
    const others = [
      { accountId: await services.createAccount() },
      { endpointId: "" },
      { state: DeliveryState.PENDING },
      { kind: CREATED },
      { since: timestampFromMs(0) },
      { until: timestampFromMs(3e12 - 1) },
    ];
    for (const other of others) {
      await expect(list({ ...next, ...other })).rejects.toMatchObject({
        code: "invalid_parameter",
        message: expect.stringContaining("another account or to other filters"),
      });
    }
  });
});
