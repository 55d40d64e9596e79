import {
  ApiKeyService,
  AttemptOutcome,
  DispatchService,
  EndpointService,
  NoticeService,
} from "@activity/proto";
import { type Timestamp, timestampFromMs, timestampMs, timestampNow } from "@bufbuild/protobuf/wkt";
import { beforeAll, expect, it } from "vitest";
import { NOW_MICROS } from "../../server/src/database/now.ts";
import { createApiKey, createEndpoint, createReader } from "../harness/builders.ts";
import { requestOf } from "../harness/http.ts";
import { startTestRedis } from "../harness/redis.ts";
import { firstRunOf, madeAttempt } from "../harness/services.ts";
import { useTestStack } from "../harness/stack.ts";
import { useStarted } from "../harness/use-started.ts";

const MINUTE_MS = 60_000;
/** Twice the interval between two rounds of the core. */
const NOTED = { timeout: MINUTE_MS, interval: 500 };

const redis = useStarted(startTestRedis);
const stack = useTestStack();
/** The ports of two gateways: the first instance counts requests in the database, the second in Redis. */
let ports: number[];
beforeAll(async () => {
  const second = await stack.startInstance({ env: { REDIS_URL: redis.url } });
  ports = [stack.gatewayPort, second.gatewayPort];
});

/**
 * Creates keys that were last used `minutesAgo` minutes ago, or never. Uses each key once. Returns a function that
 * reads the last uses.
 */
async function useKeys(port: number, minutesAgo: Readonly<Record<string, number | undefined>>) {
  const { accountId } = await createReader(stack);
  const ids: Record<string, string> = {};
  for (const [name, minutes] of Object.entries(minutesAgo)) {
    const key = await createApiKey(stack, accountId);
    ids[name] = key.id;
    await stack.database.query(
      `UPDATE api_key SET last_used_at = ${NOW_MICROS} - ?, expires_at = IF(?, 0, expires_at) WHERE id = ?`,
      [minutes === undefined ? null : minutes * MINUTE_MS * 1000, name === "expired", key.id],
    );
    const { status } = await requestOf(port, "/api/v1/me", { apiKey: key.text });
    expect(status).toBe(name === "expired" ? 401 : 200);
  }
  return async () => {
    const listed = await stack.client(ApiKeyService).listApiKeys({ accountId });
    const used = new Map(listed.apiKeys.map(({ id, lastUsedAt }) => [id, lastUsedAt]));
    return Object.fromEntries(
      Object.entries(ids).map(([name, id]) => [name, hoursAgo(used.get(id))]),
    );
  };
}

/** Returns how many hours ago a time was, to a tenth, or -1 for never. */
function hoursAgo(time: Timestamp | undefined): number {
  if (time === undefined) return -1;
  return Math.round((10 * (Date.now() - timestampMs(time))) / (60 * MINUTE_MS)) / 10;
}

it.concurrent("the last use of a key is noted once an hour, in the background, by either limiter", async ({
  expect,
}) => {
  const minutes = { expired: undefined, withinTheHour: 30, beforeThat: 61, never: undefined };
  const reads = await Promise.all(ports.map((port) => useKeys(port, minutes)));
  for (const read of reads) {
    const expected = { expired: -1, withinTheHour: 0.5, beforeThat: 0, never: 0 };
    await expect.poll(read, NOTED).toEqual(expected);
  }
}, 120_000);

it.concurrent("an endpoint's attempts are counted in the background", async ({ expect }) => {
  const { accountId } = await createReader(stack);
  const endpoints = stack.client(EndpointService);
  const { endpointId } = await createEndpoint(stack, accountId);
  const { deliveryId } = await endpoints.sendTest({ accountId, endpointId });
  const run = firstRunOf(accountId, deliveryId);
  const startedAt = timestampNow();
  const attempts = [madeAttempt(run, AttemptOutcome.DELIVERED, { startedAt })];
  await stack.client(DispatchService).recordAttempts({ attempts });
  const since = timestampFromMs(Date.now() - MINUTE_MS);
  const delivered = async () => {
    const { hours } = await endpoints.getEndpointStats({ accountId, endpointId, since });
    return hours.map((hour) => hour.delivered);
  };
  await expect.poll(delivered, NOTED).toEqual([1n]);
}, 120_000);

it.concurrent("ADR 0054: an owner is notified in the background that a key ends", async ({
  expect,
}) => {
  const { accountId, apiKeyId } = await createReader(stack);
  await stack.database.query(`UPDATE api_key SET expires_at = ${NOW_MICROS} + ? WHERE id = ?`, [
    60 * MINUTE_MS * 1000,
    apiKeyId,
  ]);
  const notified = async () => {
    const { notices } = await stack.client(NoticeService).listNotices({ accountId, limit: 10 });
    return notices.map(({ subjectId, level }) => [subjectId, level]);
  };
  await expect.poll(notified, { ...NOTED, timeout: 2 * MINUTE_MS }).toEqual([[apiKeyId, 3]]);
}, 180_000);
