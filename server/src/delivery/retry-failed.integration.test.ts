import { AttemptOutcome, DeliveryState, WebhookEventKind } from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, it } from "vitest";
import { writeDeliveries } from "../../../test/harness/backlog.ts";
import { EVER, useServices } from "../../../test/harness/services.ts";
import { retryFailed } from "./retry-failed.ts";

/** Deliveries for three batches of a retry. Those of one state share an event, and so their time. */
const BACKLOG = [
  { state: DeliveryState.FAILED, count: 700 },
  { state: DeliveryState.CANCELED, count: 300 },
  { state: DeliveryState.PAUSED, count: 200 },
];
const ALL = 1_200;

const services = useServices();
let accountId: string;
let endpointId: string;
beforeEach(async () => {
  for (const table of ["outbox_entry", "delivery", "webhook_event"]) {
    await services.database.query(`DELETE FROM ${table}`);
  }
  accountId = await services.createAccount();
  endpointId = await services.createEndpoint(accountId);
  for (const { state, count } of BACKLOG) {
    const backlog = { accountId, endpointIds: [endpointId], count };
    await writeDeliveries(services.database, backlog, { state, attempts: 1 });
  }
});

const runs = () =>
  services.database.query<{ run: number; deliveries: number }>(
    "SELECT run, COUNT(*) AS deliveries FROM delivery GROUP BY run ORDER BY run",
  );

it("begins one run of each delivery, also when every one fails again at once", async () => {
  const again = `SET NEW.state = IF(NEW.run > OLD.run, ${DeliveryState.FAILED}, NEW.state),
    NEW.last_outcome = IF(NEW.run > OLD.run, ${AttemptOutcome.REJECTED}, NEW.last_outcome)`;
  const call = { accountId, endpointId, ...EVER };
  const retry = () =>
    services.deliveries.retryFailedDeliveries(call, { signal: AbortSignal.timeout(30_000) });
  const { retried } = await services.database.withTrigger(
    "BEFORE UPDATE ON delivery",
    retry,
    again,
  );
  expect(retried).toBe(BigInt(ALL));
  expect(await runs()).toEqual([{ run: 2, deliveries: ALL }]);
});

it("begins no further batch once its caller is gone", async () => {
  const caller = new AbortController();
  const { pool, writer } = services;
  const onBegun = () => caller.abort();
  const range = { since: 0, until: 4e15 };
  const others = { includeDelivered: false, kind: undefined, lastOutcome: undefined };
  const failed = { accountId, endpointId, range, ...others };
  const all = { from: undefined, limit: undefined };
  const { retried } = await retryFailed(pool, writer, onBegun, failed, all, caller.signal);
  expect(retried).toBe(500);
  expect(await runs()).toEqual([
    { run: 1, deliveries: ALL - 500 },
    { run: 2, deliveries: 500 },
  ]);
});

it.each([
  ["switched off", "switched_on = FALSE"],
  ["deleted", "switched_on = FALSE, deleted_at = 1"],
])("counts the runs that it began before the endpoint was %s", async (_, change) => {
  // The first batch commits this change, so the second batch sees it.
  const end = `UPDATE endpoint SET ${change} WHERE id = NEW.endpoint_id`;
  const call = { accountId, endpointId, ...EVER };
  const retry = () => services.deliveries.retryFailedDeliveries(call);
  const { retried } = await services.database.withTrigger("AFTER UPDATE ON delivery", retry, end);
  expect(retried).toBe(500n);
  expect(await runs()).toEqual([
    { run: 1, deliveries: ALL - 500 },
    { run: 2, deliveries: 500 },
  ]);
  await expect(retry()).rejects.toThrow();
});

describe("ADR 0053: in parts, for every endpoint that is on,", () => {
  /** Retries in parts, at most `maxParts` of them. */
  async function retryParts(maxParts = 99, chosen = {}) {
    const retried: number[] = [];
    let pageToken = "";
    do {
      const call = { accountId, ...EVER, ...chosen, pageSize: 400, pageToken };
      const part = await services.deliveries.retryFailedDeliveries(call);
      retried.push(Number(part.retried));
      pageToken = part.nextPageToken;
    } while (pageToken !== "" && retried.length < maxParts);
    return { retried, pageToken };
  }
  const sum = (parts: readonly number[]) => parts.reduce((all, part) => all + part, 0);
  beforeEach(async () => {
    for (const switchedOn of [true, false]) {
      const other = await services.createEndpoint(accountId);
      const backlog = { accountId, endpointIds: [other], count: 10 };
      await writeDeliveries(services.database, backlog, {
        state: DeliveryState.FAILED,
        attempts: 1,
      });
      if (!switchedOn) {
        await services.endpoints.switchOffEndpoint({ accountId, endpointId: other });
      }
    }
  });

  it("a bulk retry begins each counted delivery once", async () => {
    const counted = await services.deliveries.countRetriableDeliveries({ accountId, ...EVER });
    expect(counted).toMatchObject({ count: BigInt(ALL + 10), hasMore: false });
    const { retried } = await retryParts();
    expect(sum(retried)).toBe(ALL + 10);
    expect(Math.max(...retried)).toBe(400);
    expect(await runs()).toEqual([
      { run: 1, deliveries: 10 },
      { run: 2, deliveries: ALL + 10 },
    ]);
    const left = await services.deliveries.countRetriableDeliveries({ accountId, ...EVER });
    expect(left.count).toBe(0n);
  });

  it("a retry skips an endpoint that is switched off in the middle", async () => {
    const { retried, pageToken } = await retryParts(2);
    await services.endpoints.switchOffEndpoint({ accountId, endpointId });
    const call = { accountId, ...EVER, pageSize: 400, pageToken };
    const rest = await services.deliveries.retryFailedDeliveries(call);
    expect(sum(retried) + Number(rest.retried)).toBeLessThanOrEqual(800 + 10);
    expect(rest.nextPageToken).toBe("");
  });

  it("a retry begins those of a kind and an outcome only, as they were counted", async () => {
    const { DONATION_CREATED, DONATION_REFUNDED } = WebhookEventKind;
    const lastOutcome = AttemptOutcome.TIMEOUT;
    for (const [kind, limit] of [
      [DONATION_REFUNDED, 300],
      [DONATION_CREATED, 200],
    ]) {
      await services.database.queryShards(
        `UPDATE delivery SET kind = ?, last_outcome = ?
         WHERE state = ? AND last_outcome = ? AND endpoint_id = ? LIMIT ${limit}`,
        [kind, lastOutcome, DeliveryState.FAILED, AttemptOutcome.REJECTED, endpointId],
      );
    }
    const { countRetriableDeliveries } = services.deliveries;
    const count = async (chosen: { kind?: WebhookEventKind; lastOutcome?: AttemptOutcome }) =>
      Number((await countRetriableDeliveries({ accountId, ...EVER, ...chosen })).count);
    expect(await count({ kind: DONATION_REFUNDED })).toBe(300);
    expect(await count({ lastOutcome })).toBe(500);
    const chosen = { kind: DONATION_CREATED, lastOutcome };
    expect(await count(chosen)).toBe(200);
    const { retried } = await retryParts(99, chosen);
    expect(sum(retried)).toBe(200);
    expect(await count(chosen)).toBe(0);
    expect(await count({ kind: DONATION_REFUNDED })).toBe(300);
    // A failed delivery's last outcome is never DELIVERED.
    expect(await count({ lastOutcome: AttemptOutcome.DELIVERED })).toBe(0);
  });

  it("a retry continues only with its own token, and without one is limited to one a minute", async () => {
    const { pageToken } = await retryParts(1);
    const ask = services.deliveries.retryFailedDeliveries;
    await expect(ask({ accountId, ...EVER })).rejects.toThrow("within the last minute");
    const others = [
      ...[{ endpointId }, { includeDelivered: true }, { until: timestampFromMs(3e12) }],
      ...[{ kind: WebhookEventKind.DONATION_CREATED }, { lastOutcome: AttemptOutcome.TIMEOUT }],
    ];
    for (const other of others) {
      const call = { accountId, ...EVER, ...other, pageSize: 1, pageToken };
      await expect(ask(call)).rejects.toThrow("page_token belongs to another");
    }
    await services.forgetSending(accountId);
    // A later part does not count towards the limit.
    await ask({ accountId, ...EVER, pageSize: 1, pageToken });
    await expect(ask({ accountId, ...EVER })).resolves.toBeDefined();
  });

  it("a token, also a replayed one, begins one part only", async () => {
    const { pageToken } = await retryParts(1);
    const call = { accountId, ...EVER, pageToken };
    const ask = services.deliveries.retryFailedDeliveries;
    await expect(ask(call)).rejects.toThrow("page_token needs a page_size");
    for (let time = 0; time < 2; time++) {
      expect((await ask({ ...call, pageSize: 1 })).retried).toBe(1n);
    }
  });

  it("a retry whose first part begins nothing is limited to one a minute, but not if no other part follows", async () => {
    const own = await services.createAccount();
    const endpointIds = [await services.createEndpoint(own)];
    const write = (state: DeliveryState) =>
      writeDeliveries(
        services.database,
        { accountId: own, endpointIds, count: 1 },
        { state, attempts: 1 },
      );
    const [erased] = await write(DeliveryState.DELIVERED);
    await services.database.queryShards(
      `UPDATE webhook_event SET payload = NULL
       WHERE id = (SELECT event_id FROM delivery WHERE id = ?)`,
      [erased],
    );
    const ask = services.deliveries.retryFailedDeliveries;
    const call = { accountId: own, ...EVER, includeDelivered: true };
    expect(await ask(call)).toMatchObject({ retried: 0n, nextPageToken: "" });

    await write(DeliveryState.FAILED);
    const { retried, nextPageToken: pageToken } = await ask({ ...call, pageSize: 1 });
    expect(retried).toBe(0n);
    expect(await ask({ ...call, pageSize: 1, pageToken })).toMatchObject({ retried: 1n });
    await expect(ask(call)).rejects.toThrow("within the last minute");
  });
});
