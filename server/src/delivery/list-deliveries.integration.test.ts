import { DeliveryState, WebhookEventKind } from "@activity/proto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { writeDeliveries } from "../../../test/delivery/harness-backlog.ts";
import { rowCounterOf } from "../../../test/harness/row-reads.ts";
import { type Services, startServices } from "../../../test/harness/services.ts";

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
  const endpointIds: string[] = [];
  for (const [prefix, state, kind] of [
    ["first00000", DELIVERED, CREATED],
    ["second0000", FAILED, REFUNDED],
  ] as const) {
    const url = "https://example.com/hook";
    const call = { accountId, url, kinds: { kinds: [kind] } };
    const endpointId = (await services.endpoints.createEndpoint(call)).endpoint?.id ?? "";
    endpointIds.push(endpointId);
    const backlog = { accountId, endpointIds: [endpointId], count: 10_000, prefix };
    await writeDeliveries(services.database, backlog, { state, attempts: 1 });
    const update =
      "UPDATE delivery SET kind = ?, created_at = created_at + RIGHT(id, 5) WHERE endpoint_id = ?";
    // Each time is one of both endpoints, so that pages also end among equal ones.
    await services.database.query(update, [kind, endpointId]);
  }
  [created = "", refunded = ""] = endpointIds;
  await services.database.query(
    "UPDATE delivery SET kind = ?, state = ? WHERE endpoint_id = ? ORDER BY created_at LIMIT 3",
    [REFUNDED, FAILED, created],
  );
}, 120_000);
afterAll(() => services.stop());

const ENDPOINTS = ["", "created", "refunded"] as const;
const cases = ENDPOINTS.flatMap((endpoint) =>
  [undefined, DELIVERED, FAILED, DeliveryState.HELD].flatMap((state) =>
    [undefined, CREATED, REFUNDED].map((kind) => ({ endpoint, state, kind })),
  ),
);

it.each(cases)("reads what it shows and a few rows: $endpoint $state $kind", async (filter) => {
  const { endpoint, state, kind } = filter;
  const endpointId = { "": "", created, refunded }[endpoint];
  const all = (
    await services.database.query<{ id: string }>(
      `SELECT id FROM delivery WHERE (? = '' OR endpoint_id = ?) AND state = COALESCE(?, state)
         AND kind = COALESCE(?, kind) ORDER BY created_at DESC, delivery_no DESC LIMIT ${2 * PAGE + 1}`,
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
});
