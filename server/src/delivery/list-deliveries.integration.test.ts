import {
  AttemptOutcome,
  DeliveryState,
  type ListDeliveriesRequestSchema,
  WebhookEventKind,
} from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPaidDonation } from "../../../test/harness/builders.ts";
import { fillDeliveries } from "../../../test/harness/filled-deliveries.ts";
import { rowCounterOf } from "../../../test/harness/row-reads.ts";
import { useServices } from "../../../test/harness/services.ts";
import { requiredMicros, timestampFromMicros } from "../common/timestamps.ts";

/**
 * Enough deliveries to notice a scan. More would not change the plan: statements name their index and order of joins.
 */
const COUNT = 100_000;
const PAGE = 50;
/** Maximum rows that a page may read: entries of two ranges, the shown rows, and one row at the start of each range. */
const FEW = 3 * (PAGE + 1) + 180;
const { DELIVERED, FAILED, PAUSED } = DeliveryState;
const { DONATION_CREATED: CREATED, DONATION_REFUNDED: REFUNDED } = WebhookEventKind;
const { REJECTED, TIMEOUT } = AttemptOutcome;

type Filter = MessageInitShape<typeof ListDeliveriesRequestSchema>;
type Row = {
  id: string;
  endpoint: string;
  event: string;
  state: number;
  kind: number;
  outcome: number;
};

const services = useServices();
let accountId: string;
let created: string;
let refunded: string;
let rows: Row[];
let countRead: () => Promise<number>;
/** Groups of rows with equal values of all filters, newest first. */
let alike: Row[][];

// Half of the deliveries are of kind CREATED, delivered to one endpoint. Half are of kind REFUNDED, timed out at the
// other. The three oldest of the first half become REFUNDED and rejected. So two filters can match many rows each, but
// only three or none together.
beforeAll(async () => {
  accountId = await services.createAccount();
  created = await services.createEndpoint(accountId, [CREATED]);
  refunded = await services.createEndpoint(accountId, [REFUNDED]);
  const other = { kind: REFUNDED, state: FAILED };
  await fillDeliveries(services.database, accountId, COUNT, [
    { endpointId: created, kind: CREATED, state: DELIVERED, outcome: AttemptOutcome.DELIVERED },
    { endpointId: refunded, ...other, outcome: TIMEOUT },
  ]);
  await services.database.query(
    "UPDATE delivery SET kind = ?, state = ?, last_outcome = ? WHERE endpoint_id = ? ORDER BY id LIMIT 3",
    [REFUNDED, FAILED, REJECTED, created],
  );
  rows = await services.database.queryShards<Row>(
    `SELECT id, endpoint_id AS endpoint, event_id AS event, state, kind, last_outcome AS outcome
     FROM delivery ORDER BY id DESC`,
  );
  const groups = Map.groupBy(rows, (row) =>
    [row.endpoint, row.state, row.kind, row.outcome].join(" "),
  );
  alike = [...groups.values()];
  countRead = await rowCounterOf(services.database, "delivery");
});

const ENDPOINTS = ["", "created", "refunded"] as const;
const cases = ENDPOINTS.flatMap((endpoint) =>
  [undefined, DELIVERED, FAILED, PAUSED].flatMap((state) =>
    [undefined, CREATED, REFUNDED].flatMap((kind) =>
      [undefined, AttemptOutcome.DELIVERED, TIMEOUT, REJECTED].map((outcome) => ({
        ...{ endpoint, state, kind, outcome },
      })),
    ),
  ),
);

describe(`the list of an account with ${COUNT} deliveries, ADR 0026`, () => {
  it.each(cases)(
    "reads few rows beyond those it shows: $endpoint $state $kind $outcome",
    async ({ endpoint, state, kind, outcome }) => {
      const endpointId = { "": "", created, refunded }[endpoint];
      const shown = alike
        .filter(
          ([row]) =>
            row !== undefined &&
            (endpointId === "" || row.endpoint === endpointId) &&
            (state ?? row.state) === row.state &&
            (kind ?? row.kind) === row.kind &&
            (outcome ?? row.outcome) === row.outcome,
        )
        .flatMap((group) => group.slice(0, 2 * PAGE + 1))
        .sort((a, b) => (a.id < b.id ? 1 : -1));
      const named = {
        ...(state && { state }),
        ...(kind && { kind }),
        ...(outcome && { lastOutcome: outcome }),
      };
      let pageToken = "";
      for (const start of [0, PAGE]) {
        const page = await list({ endpointId, ...named, pageToken });
        expect(page.rowsRead).toBeLessThanOrEqual(FEW);
        expect(page.ids).toEqual(shown.slice(start, start + PAGE).map(({ id }) => id));
        expect(page.nextPageToken === "").toBe(shown.length <= start + PAGE);
        if (page.nextPageToken === "") break;
        pageToken = page.nextPageToken;
      }
    },
  );

  it("reads the deliveries of one event, with every other filter too", async () => {
    const { event = "" } = rows[COUNT / 2] ?? {};
    const [first, second] = rows.filter((row) => row.event === event);
    const ids = async (filter: Filter = {}) => {
      const page = await list({ eventId: event, ...filter });
      expect(page.rowsRead).toBeLessThanOrEqual(10);
      return page.ids;
    };
    expect(await ids()).toEqual([first?.id, second?.id]);
    expect(await ids({ endpointId: created })).toEqual([second?.id]);
    expect(await ids({ state: FAILED })).toEqual([first?.id]);
    expect(await ids({ kind: CREATED })).toEqual([second?.id]);
    expect(await ids({ lastOutcome: TIMEOUT })).toEqual([first?.id]);
    expect(await ids({ lastOutcome: TIMEOUT, endpointId: created })).toEqual([]);
    const { nextPageToken: pageToken } = await list({ eventId: event, pageSize: 1 });
    expect(await ids({ pageSize: 1, pageToken })).toEqual([second?.id]);
    expect(await ids({ eventId: "wev_nobodysevent000" })).toEqual([]);
  });

  async function list(filter: Filter) {
    const before = await countRead();
    const call = { accountId, pageSize: PAGE, ...filter };
    const { deliveries, nextPageToken } = await services.deliveries.listDeliveries(call);
    const rowsRead = (await countRead()) - before;
    return { ids: deliveries.map(({ id }) => id), nextPageToken, rowsRead };
  }
});

describe("the list of deliveries, §6.4", () => {
  let own: string;
  let endpointId: string;
  beforeEach(async () => {
    own = await services.createAccount();
    endpointId = await services.createEndpoint(own);
  });
  const list = (filter: Filter = {}) =>
    services.deliveries.listDeliveries({ accountId: own, ...filter });
  const idsOf = async (filter?: Filter) => (await list(filter)).deliveries.map(({ id }) => id);
  async function sendTests(count: number): Promise<string[]> {
    const sent: string[] = [];
    while (sent.length < count) {
      sent.push((await services.sendTest(own, endpointId)).deliveryId);
    }
    return sent;
  }

  it("shows each one's donation, finds those of a donation, and hides the name of a deleted one", async () => {
    await sendTests(1);
    const { externalId } = await createPaidDonation(services, own, { donorName: "Ada" });
    await createPaidDonation(services, own);
    const { deliveries } = await list();
    const told = deliveries.map(({ donation }) => [donation?.donorName, donation?.amountCents]);
    expect(told).toEqual([
      [undefined, 500n],
      ["Ada", 500n],
      [undefined, undefined],
    ]);
    const [, ofAda] = deliveries;
    const recordId = ofAda?.donation?.recordId ?? "";
    expect(await idsOf({ recordId })).toEqual([ofAda?.id]);
    expect(await idsOf({ recordId, state: FAILED })).toEqual([]);
    expect(await idsOf({ recordId: "nobodysrecord00" })).toEqual([]);
    await services.donations.deleteDonation({ accountId: own, externalId });
    const [erased] = (await list({ recordId })).deliveries;
    expect(erased?.donation?.donorName).toBeUndefined();
  });

  it.each([
    ["alone", () => ({})],
    ["and an endpoint", () => ({ endpointId })],
    ["and a state", () => ({ state: DeliveryState.PENDING })],
  ])("includes since and excludes until, to the microsecond: times %s", async (_, filter) => {
    const [older = "", middle = "", newer = ""] = await sendTests(3);
    const call = { accountId: own, deliveryId: middle };
    const { delivery } = await services.deliveries.getDelivery(call);
    const at = Number(requiredMicros(delivery?.createdAt, "created_at"));
    const after = (micros: number) => timestampFromMicros(at + micros);
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

  it("accepts a token only for the account and filters that it was issued for", async () => {
    await sendTests(2);
    expect(await idsOf({ endpointId: "nobodyendpoint0" })).toEqual([]);
    await expect(list({ pageToken: "x" })).rejects.toThrow("page_token must be");
    const filters = { endpointId, until: timestampFromMs(3e12) };
    const { nextPageToken } = await list({ ...filters, pageSize: 1 });
    const next = { ...filters, pageToken: nextPageToken };
    expect((await list({ ...next, pageSize: 2 })).deliveries).toHaveLength(1);
    const others = [
      { accountId: await services.createAccount() },
      { endpointId: "" },
      { state: DeliveryState.PENDING },
      { kind: CREATED },
      { lastOutcome: TIMEOUT },
      { eventId: "wev_nobodysevent000" },
      { recordId: "nobodysrecord00" },
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
