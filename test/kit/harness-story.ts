import { randomInt } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import {
  AttemptOutcome,
  type Delivery,
  DeliveryService,
  DeliveryState,
  EndpointService,
} from "@activity/proto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect } from "vitest";
import type { PLANS } from "./harness-faults.ts";
import type { KitStack } from "./harness-kit.ts";
import { writeRecords } from "./harness-records.ts";

const WRITERS = 2;
const PAUSE_MS = 250;
const RANDOM_KILLS = 4;
/** Kills must end before the first retry, a minute after its attempt. Only a slow machine needs this long. §6.4 */
const WITHIN_MS = 40_000;
/** A retry that cannot reach the receiver is repeated five minutes later. §6.4 */
const DELIVERED_WITHIN_MS = 400_000;

/** Reads every delivery to the receiver's endpoint. */
export async function readDeliveries({ stack, accountId }: KitStack): Promise<Delivery[]> {
  const all: Delivery[] = [];
  let pageToken = "";
  do {
    const page = await stack
      .client(DeliveryService)
      .listDeliveries({ accountId, pageSize: 100, pageToken });
    all.push(...page.deliveries);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return all;
}

/** Checks that every event, except tests, has its effect in the receiver's database exactly once. */
export async function expectEveryEffectOnce(kit: KitStack): Promise<void> {
  const deliveries = await readDeliveries(kit);
  const eventIds = deliveries.filter(({ test }) => !test).map(({ eventId }) => eventId);
  expect(eventIds.length).toBeGreaterThan(0);
  expect((await kit.readEffects()).toSorted()).toEqual(eventIds.toSorted());
}

/**
 * Waits until everything is delivered. Attempts in flight while the URL is corrected may still get 404, so the owner
 * retries those.
 */
export function untilAllDelivered(kit: KitStack): Promise<void> {
  const undelivered = async () => {
    const deliveries = await readDeliveries(kit);
    const failed = deliveries.filter(({ state }) => state === DeliveryState.FAILED);
    // No other outcome may have ended them.
    expect(new Set(failed.map(({ lastOutcome }) => lastOutcome))).toEqual(
      new Set(failed.length > 0 ? [AttemptOutcome.ROUTE_NOT_FOUND] : []),
    );
    const client = kit.stack.client(DeliveryService);
    for (const { id } of failed) {
      await client.retryDelivery({ accountId: kit.accountId, deliveryId: id });
    }
    return deliveries.filter(({ state }) => state !== DeliveryState.DELIVERED);
  };
  return expect.poll(undelivered, { timeout: DELIVERED_WITHIN_MS, interval: 500 }).toEqual([]);
}

/**
 * Writes records of every kind at a pace that always leaves some in flight: `turnsOfWriter` turns, and more until
 * each fault of the plan has happened.
 */
export async function writeEverything(
  { stack, accountId, faults }: KitStack,
  turnsOfWriter: number,
  plan: keyof typeof PLANS,
): Promise<void> {
  const endAt = performance.now() + WITHIN_MS;
  const writers = Array.from({ length: WRITERS }, async () => {
    for (let turn = 0; turn < turnsOfWriter || !faults.allHappened(plan); turn++) {
      if (performance.now() > endAt) return;
      await writeRecords(stack, accountId, turn);
      await wait(PAUSE_MS);
    }
  });
  await Promise.all(writers);
}

/** Kills the receiver at random moments, in addition to the planned ones. */
export async function killAtRandom({ program }: KitStack): Promise<void> {
  const endAt = performance.now() + WITHIN_MS;
  for (let kill = 0; kill < RANDOM_KILLS && performance.now() < endAt; kill++) {
    await wait(randomInt(1_000, 3_000));
    await program.kill();
  }
}

/** Waits until every delivery has had its first attempt. */
export function untilEachWasTried(kit: KitStack): Promise<void> {
  const untried = async () =>
    (await readDeliveries(kit)).filter(({ attempts }) => attempts === 0).length;
  return expect.poll(untried, { timeout: 60_000, interval: 250 }).toBe(0);
}

/**
 * The owner sets a wrong path, so that retries end with 404. One of them has its effect already, because its answer
 * was lost. Then the owner corrects the path and retries that delivery.
 */
export async function loseTheRoute(kit: KitStack): Promise<void> {
  const { accountId, endpointId, url } = kit;
  const endpoints = kit.stack.client(EndpointService);
  await endpoints.updateEndpoint({ accountId, endpointId, url: url("/webhook") });
  await expect
    .poll(() => findFailedWithEffect(kit), { timeout: 90_000, interval: 500 })
    .toBeDefined();
  await endpoints.updateEndpoint({ accountId, endpointId, url: url("/webhooks") });

  const deliveries = kit.stack.client(DeliveryService);
  const deliveryId = (await findFailedWithEffect(kit))?.id ?? "";
  await deliveries.retryDelivery({ accountId, deliveryId });
}

/** Retries the failed deliveries. */
export async function retryFailed({ stack, accountId, endpointId }: KitStack): Promise<void> {
  const range = { since: timestampFromMs(0), until: timestampFromMs(Date.now()) };
  await stack.client(DeliveryService).retryFailedDeliveries({ accountId, endpointId, ...range });
}

async function findFailedWithEffect(kit: KitStack) {
  const effects = new Set(await kit.readEffects());
  return (await readDeliveries(kit)).find(
    ({ state, eventId }) => state === DeliveryState.FAILED && effects.has(eventId),
  );
}

/** Reads the result of every attempt: its status or its error. */
export async function readAnswers({ stack }: KitStack): Promise<string[]> {
  const rows = await stack.database.query<{ answer: string; run: number }>(
    "SELECT COALESCE(status_code, detail) AS answer, run FROM delivery_attempt",
  );
  return rows.map(({ answer, run }) => (run > 1 ? `${answer} after the owner's retry` : answer));
}
