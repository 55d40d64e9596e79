import { AttemptOutcome } from "@activity/proto";
import { createLog } from "@activity/runtime/log";
import { durationFromMs, timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NUMBERS } from "../../../test/harness/backlog.ts";
import { useOwner } from "../../../test/harness/owner.ts";
import { type Run, useServices } from "../../../test/harness/services.ts";
import { stayWithinHour } from "../../../test/harness/within-hour.ts";
import { inTransaction } from "../database/transaction.ts";
import { removeOldDeliveries } from "../delivery/delivery-removal.ts";
import { countAttempts, startAttemptCounting } from "./delivery-stat.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The start of the current hour, in milliseconds. */
const currentHour = () => Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
const HOUR = currentHour();
const { DELIVERED, TIMEOUT, REJECTED, UNSAFE_TARGET, REDIRECTED, RECEIVER_BUSY } = AttemptOutcome;
/** The numbers of an hour with one delivered attempt of 5 ms, as `services.record` makes it. */
const ONE = { delivered: 1, failed: 0, total: 5_000, longest: 5_000 };

const services = useServices();
const { own, sendTest: send } = useOwner(services);
beforeEach(() => countAttempts(services.pool));
afterEach(() => {
  vi.useRealTimers();
});

/** Records a delivered attempt of a new delivery. The attempt began at `startedMs`. */
async function attempt(startedMs = HOUR): Promise<Run> {
  const run = await send();
  await services.record(run, DELIVERED, { startedAt: timestampFromMs(startedMs) });
  return run;
}

/** Returns the hours of the endpoint, with times in milliseconds and durations in microseconds. */
async function hours(sinceMs = HOUR - 31 * DAY_MS) {
  const since = timestampFromMs(sinceMs);
  const stats = await services.endpoints.getEndpointStats({ ...own, since });
  const micros = (duration?: { seconds: bigint; nanos: number }) =>
    Number(duration?.seconds) * 1e6 + (duration?.nanos ?? 0) / 1000;
  return stats.hours.map((hour) => ({
    at: hour.beganAt && timestampMs(hour.beganAt),
    delivered: Number(hour.delivered),
    failed: Number(hour.failed),
    total: micros(hour.totalDuration),
    longest: micros(hour.longestDuration),
  }));
}

describe("an endpoint's hours, ADR 0039", () => {
  it("hold each attempt once in the hour in which it began, with how it ended and how long it took", async () => {
    // The count must be in this hour, because an attempt that is dated ahead counts in the hour of the count.
    await stayWithinHour();
    const HOUR = currentHour();
    const run = await send();
    const startedAt = timestampFromMs(HOUR - 1);
    const retryIn = { seconds: 60n };
    await services.record(run, TIMEOUT, { startedAt, duration: { seconds: 10n }, retryIn });
    await services.record(await send(), UNSAFE_TARGET, { startedAt, duration: { nanos: 1_000 } });
    await countAttempts(services.pool);
    // Dates the attempt 72 hours ahead, because a sender's clock may be ahead.
    const again = { attempt: 2, startedAt: timestampFromMs(HOUR + 72 * HOUR_MS) };
    await services.record(run, DELIVERED, { ...again, duration: { nanos: 7_000_000 } });
    await attempt(HOUR);
    await services.record(await send(), REJECTED, { startedAt: timestampFromMs(HOUR) });
    for (let time = 0; time < 2; time++) await countAttempts(services.pool);
    expect(await hours()).toEqual([
      { at: HOUR - HOUR_MS, delivered: 0, failed: 2, total: 10_000_001, longest: 10_000_000 },
      { at: HOUR, delivered: 2, failed: 1, total: 17_000, longest: 7_000 },
    ]);
    expect(await hours(HOUR - 1)).toHaveLength(2);
    expect(await hours(HOUR)).toHaveLength(1);
    expect(await hours(HOUR + HOUR_MS - 1)).toHaveLength(1);
    expect(await hours(HOUR + HOUR_MS)).toEqual([]);
  });

  it("count failed attempts by the class of their status, and durations by ten ranges", async () => {
    const startedAt = timestampFromMs(HOUR);
    const make = async (outcome: AttemptOutcome, milliseconds: number, statusCode?: number) => {
      const duration = durationFromMs(milliseconds);
      const status = statusCode === undefined ? {} : { statusCode };
      await services.record(await send(), outcome, { startedAt, duration, ...status });
    };
    await make(DELIVERED, 10, 204);
    await make(REDIRECTED, 11, 302);
    for (const status of [400, 404]) await make(REJECTED, 250, status);
    await countAttempts(services.pool);
    await make(RECEIVER_BUSY, 5_000, 503);
    await make(TIMEOUT, 10_001);
    await make(REJECTED, 0, 600);
    await countAttempts(services.pool);
    const since = timestampFromMs(HOUR);
    const stats = await services.endpoints.getEndpointStats({ ...own, since });
    expect(stats.durationBoundsMs).toEqual([10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000]);
    expect(stats.hours).toMatchObject([
      {
        ...{ delivered: 1n, failed: 6n },
        ...{ redirects: 1n, clientErrors: 2n, serverErrors: 1n, unanswered: 1n },
        durations: [2n, 1n, 0n, 0n, 2n, 0n, 0n, 0n, 1n, 1n],
      },
    ]);
  });

  it("hold an attempt once that is recorded again, before it is counted and after", async () => {
    const run = await send();
    const made = { startedAt: timestampFromMs(HOUR) };
    for (let time = 0; time < 3; time++) {
      await services.record(run, DELIVERED, made);
      await services.record(run, REJECTED, made);
      await countAttempts(services.pool);
    }
    expect(await hours()).toEqual([{ at: HOUR, ...ONE }]);
  });

  it("are those of this endpoint of this account only", async () => {
    await attempt();
    await countAttempts(services.pool);
    const since = timestampFromMs(0);
    const stats = (of: { accountId?: string; endpointId?: string }) =>
      services.endpoints.getEndpointStats({ ...own, since, ...of });
    const other = await services.createEndpoint(own.accountId);
    expect((await stats({ endpointId: other })).hours).toEqual([]);
    const notFound = { code: "endpoint_not_found" };
    await expect(stats({ endpointId: "nobodyendpoint0" })).rejects.toMatchObject(notFound);
    const stranger = await services.createAccount();
    await expect(stats({ accountId: stranger })).rejects.toMatchObject(notFound);
    await services.endpoints.deleteEndpoint(own);
    await expect(stats({})).rejects.toMatchObject(notFound);
  });
});

describe("an attempt is counted once, ADR 0039", () => {
  it("by several that count while others are recorded", async () => {
    const MANY = 1_200;
    let isOver = false;
    const counting = Array.from({ length: 3 }, async () => {
      while (!isOver) await countAttempts(services.pool);
    });
    await insertAttempts(MANY);
    for (let time = 0; time < 20; time++) await attempt();
    isOver = true;
    await Promise.all(counting);
    await countAttempts(services.pool);
    const all = MANY + 20;
    const times = { total: MANY + 20 * 5_000, longest: 5_000 };
    expect(await hours()).toEqual([{ at: HOUR, delivered: all, failed: 0, ...times }]);
  });

  it.each([
    ["before it is added", "INSERT ON delivery_stat"],
    ["before it is marked", "UPDATE ON delivery_attempt"],
  ])("when the count breaks off %s", async (_, moment) => {
    await attempt();
    const count = () => countAttempts(services.pool);
    const broken = services.database.withTrigger(`BEFORE ${moment}`, count);
    // 1644 is the number of the trigger's error. With the flags of docs/scale.md, Vitess returns only the number.
    await expect(broken).rejects.toMatchObject({ errno: 1644 });
    expect(await hours()).toEqual([]);
    for (let time = 0; time < 2; time++) await countAttempts(services.pool);
    expect(await hours()).toEqual([{ at: HOUR, ...ONE }]);
  });

  it("when it is committed long after others that were recorded later", async () => {
    const late = await send();
    await inTransaction(services.pool, async (tx) => {
      await tx.query(
        `INSERT INTO delivery_attempt (account_no, delivery_id, run, attempt, started_at, duration, outcome,
           response_body) VALUES (?, ?, 1, 1, ?, 5000, ?, '')`,
        [late.accountNo, late.deliveryId, HOUR * 1000, DELIVERED],
      );
      await attempt();
      // The count does not wait for the open transaction.
      await countAttempts(services.pool);
      expect(await hours()).toEqual([{ at: HOUR, ...ONE }]);
    });
    await countAttempts(services.pool);
    expect(await hours()).toMatchObject([{ at: HOUR, delivered: 2 }]);
  });

  it("by the next run if it is recorded behind the position of a run, which reads the index once", async () => {
    const { accountNo, deliveryId } = await send();
    // The attempts of a later delivery fill more than one chunk.
    const counted = 250;
    await insertAttempts(counted);
    const behind = `INSERT IGNORE INTO delivery_attempt (account_no, delivery_id, run, attempt, started_at, duration,
        outcome, response_body)
      VALUES (${accountNo}, '${deliveryId}', 1, 1, ${HOUR * 1000}, 1, ${DELIVERED}, '')`;
    const count = () => countAttempts(services.pool);
    await services.database.withTrigger("BEFORE INSERT ON delivery_stat", count, behind);
    expect(await hours()).toMatchObject([{ delivered: counted }]);
    await count();
    expect(await hours()).toMatchObject([{ delivered: counted + 1 }]);
  });

  it("also when its delivery is old enough to be removed: the removal waits for the count", async () => {
    const { deliveryId } = await attempt(HOUR - 2 * DAY_MS);
    await services.database.query("UPDATE delivery SET created_at = 0 WHERE id = ?", [deliveryId]);
    const attempts = "SELECT 1 FROM delivery_attempt WHERE delivery_id = ?";
    const left = () => services.database.query(attempts, [deliveryId]);
    await removeOldDeliveries(services.pool, DAY_MS * 1000);
    expect(await left()).toHaveLength(1);
    await countAttempts(services.pool);
    await removeOldDeliveries(services.pool, DAY_MS * 1000);
    expect(await left()).toEqual([]);
    expect(await hours()).toEqual([{ at: HOUR - 2 * DAY_MS, ...ONE }]);
  });
});

it("hours are kept for 31 days and removed then, by the job that counts", async () => {
  const kept = HOUR - 31 * DAY_MS;
  await attempt(HOUR - 33 * DAY_MS);
  await attempt(kept);
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const stop = startAttemptCounting(
    services.pool,
    createLog((line) => expect.unreachable(line)),
  );
  vi.advanceTimersToNextTimer();
  const at = async () => (await hours(0)).map((hour) => hour.at);
  await expect.poll(at, { timeout: 10_000 }).toEqual([kept]);
  stop();
});

it("a delivery keeps the attempts of its newest 200 runs once they are counted, and each is counted once", async () => {
  const of = async (count: number) => {
    const key = await insertAttempts(count);
    return () =>
      services.database.query<{ run: number }>(
        "SELECT run FROM delivery_attempt WHERE account_no = ? AND delivery_id = ? ORDER BY run",
        [key.accountNo, key.deliveryId],
      );
  };
  const [few, many] = [await of(200), await of(450)];
  await countAttempts(services.pool);
  expect(await few()).toHaveLength(200);
  expect(await many()).toEqual(Array.from({ length: 200 }, (_, n) => ({ run: 251 + n })));
  expect(await hours()).toMatchObject([{ delivered: 650 }]);
});

/** Inserts `count` attempts of one microsecond, one for each run of one new delivery. */
async function insertAttempts(count: number): Promise<Run> {
  const run = await send();
  await services.database.queryShards(
    `INSERT INTO delivery_attempt (account_no, delivery_id, run, attempt, started_at, duration, outcome,
       response_body)
     SELECT account_no, id, 1 + n, 1, ?, 1, ?, ''
     FROM ${NUMBERS} JOIN delivery ON account_no = ? AND id = ? WHERE n < ?`,
    [HOUR * 1000, DELIVERED, run.accountNo, run.deliveryId, count],
  );
  return run;
}
