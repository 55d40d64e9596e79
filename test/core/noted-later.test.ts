import * as proto from "@activity/proto";
import { timestampFromMs, timestampMs, timestampNow } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { startKeyUses } from "../../server/src/admission/key-uses.ts";
import { hashApiKey } from "../../server/src/api-key/api-key.ts";
import { NOW_MICROS } from "../../server/src/database/now.ts";
import { writeDeliveries } from "../harness/backlog.ts";
import { createAccount, createApiKey, createEndpoint, createReader } from "../harness/builders.ts";
import { withProductPool } from "../harness/database.ts";
import { requestOf } from "../harness/http.ts";
import { QUIET } from "../harness/quiet.ts";
import { startTestRedis } from "../harness/redis.ts";
import { firstRunOf, madeAttempt } from "../harness/services.ts";
import { useTestStack } from "../harness/stack.ts";
import { useStarted } from "../harness/use-started.ts";

const MINUTE_MS = 60_000;

// The core's jobs run when a test moves this clock.
beforeAll(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterAll(() => void vi.useRealTimers());

const redis = useStarted(startTestRedis);
const stack = useTestStack();
/** The ports of two gateways: the first instance counts requests in the database, the second in Redis. */
let ports: number[];
beforeAll(async () => {
  const second = await stack.startInstance({ env: { REDIS_URL: redis.url } });
  ports = [stack.gatewayPort, second.gatewayPort];
});

/** Polls `read`, and moves the clock by a minute before each read. Each tested job runs at least once a minute. */
const afterMinutes = <Result>(read: () => Promise<Result>) =>
  expect.poll(() => {
    vi.advanceTimersByTime(MINUTE_MS);
    return read();
  });

/** API keys. Each was last used `minutesAgo`. After one more use, the product shows a last use `notedHours` ago. */
const KEYS = [
  { isExpired: true, minutesAgo: null, notedHours: undefined },
  { isExpired: false, minutesAgo: 30, notedHours: 0.5 },
  { isExpired: false, minutesAgo: 61, notedHours: 0 },
  { isExpired: false, minutesAgo: null, notedHours: 0 },
];

/** Creates the keys of `KEYS` and uses each once. Returns a function that reads the hours since their last uses. */
async function useKeys(port: number) {
  const accountId = await createAccount(stack);
  for (const { isExpired, minutesAgo } of KEYS) {
    const { id, text } = await createApiKey(stack, accountId);
    await stack.database.query(
      `UPDATE api_key SET last_used_at = ${NOW_MICROS} - ? * 60000000,
         expires_at = IF(?, 0, expires_at) WHERE id = ?`,
      [minutesAgo, isExpired, id],
    );
    const { status } = await requestOf(port, "/api/v1/me", { apiKey: text });
    expect(status).toBe(isExpired ? 401 : 200);
  }
  return async () => {
    const { apiKeys } = await stack.client(proto.ApiKeyService).listApiKeys({ accountId });
    const hours = ({ lastUsedAt: at }: proto.ApiKey) =>
      at && Math.round((Date.now() - timestampMs(at)) / (6 * MINUTE_MS)) / 10;
    return apiKeys.map(hours).toReversed();
  };
}

it("the last use of a key is noted once an hour, in the background, by either limiter", async () => {
  const reads = await Promise.all(ports.map(useKeys));
  const noted = KEYS.map(({ notedHours }) => notedHours);
  for (const read of reads) await afterMinutes(read).toEqual(noted);
});

it("no use of a key is noted after its revocation, by either limiter", async () => {
  const apiKeys = stack.client(proto.ApiKeyService);
  for (const port of ports) {
    const { accountId, apiKey, apiKeyId } = await createReader(stack);
    expect((await requestOf(port, "/api/v1/me", { apiKey })).status).toBe(200);
    await apiKeys.revokeApiKey({ accountId, apiKeyId });
    expect((await requestOf(port, "/api/v1/me", { apiKey })).status).toBe(401);
    const readKey = async () => (await apiKeys.listApiKeys({ accountId })).apiKeys[0];
    await afterMinutes(readKey).toHaveProperty("lastUsedAt");
    const { lastUsedAt, revokedAt } = (await readKey()) ?? {};
    expect(lastUsedAt && timestampMs(lastUsedAt)).toBeLessThanOrEqual(
      revokedAt ? timestampMs(revokedAt) : 0,
    );
  }
});

it("a use from before an outage does not make another key's later use earlier", async () => {
  const nowMs = Date.now();
  const timesMs = [nowMs - 120 * MINUTE_MS, nowMs];
  const readers = await Promise.all(timesMs.map(() => createReader(stack)));
  await withProductPool(stack.database, async (pool) => {
    const uses = startKeyUses(pool, QUIET);
    for (const [place, { apiKey }] of readers.entries()) {
      uses.note({ key_hash: hashApiKey(apiKey), used_at: (timesMs[place] ?? 0) * 1_000 });
    }
    const lists = () =>
      Promise.all(readers.map((each) => stack.client(proto.ApiKeyService).listApiKeys(each)));
    const noted = async () =>
      (await lists()).map(({ apiKeys: [key] }) => key?.lastUsedAt && timestampMs(key.lastUsedAt));
    await afterMinutes(noted).toEqual(timesMs);
    uses.stop();
  });
});

it("an endpoint's attempts are counted in the background", async () => {
  const { accountId } = await createReader(stack);
  const endpoints = stack.client(proto.EndpointService);
  const { endpointId } = await createEndpoint(stack, accountId);
  const { deliveryId } = await endpoints.sendTest({ accountId, endpointId });
  const run = firstRunOf(accountId, deliveryId);
  const startedAt = timestampNow();
  const attempts = [madeAttempt(run, proto.AttemptOutcome.DELIVERED, { startedAt })];
  await stack.client(proto.DispatchService).recordAttempts({ attempts });
  const since = timestampFromMs(Date.now() - MINUTE_MS);
  const delivered = async () => {
    const { hours } = await endpoints.getEndpointStats({ accountId, endpointId, since });
    return hours.map((hour) => hour.delivered);
  };
  await afterMinutes(delivered).toEqual([1n]);
});

it("ADR 0028: runs that are overdue by ten minutes are resumed in the background, 200 at a time", async () => {
  const accountId = await createAccount(stack);
  const endpointIds = [(await createEndpoint(stack, accountId)).endpointId];
  const retrying = { state: proto.DeliveryState.RETRYING, attempts: 2 };
  const write = (count: number, nextAttemptSeconds: number) =>
    writeDeliveries(
      stack.database,
      { accountId, endpointIds, count },
      { ...retrying, nextAttemptSeconds },
    );
  await write(1, -540);
  const overdue = (await write(500, -601)).map((id) => ({ id }));
  const resumed = "SELECT delivery_id id FROM outbox_entry WHERE endpoint_id = ? ORDER BY id";
  await afterMinutes(() => stack.database.query(resumed, endpointIds)).toEqual(overdue);
  const runs = stack.log.flatMap((line) => /resumed.*"deliveries":(\d+)/.exec(line)?.[1] ?? []);
  expect(Math.max(...runs.map(Number))).toBe(200);
});

it("ADR 0054: an owner is notified in the background that a key ends", async () => {
  const { accountId, apiKeyId } = await createReader(stack);
  await stack.database.query(`UPDATE api_key SET expires_at = ${NOW_MICROS} + ? WHERE id = ?`, [
    60 * MINUTE_MS * 1000,
    apiKeyId,
  ]);
  const notified = async () => {
    const { notices } = await stack
      .client(proto.NoticeService)
      .listNotices({ accountId, limit: 10 });
    return notices.map(({ subjectId, level }) => [subjectId, level]);
  };
  await afterMinutes(notified).toEqual([[apiKeyId, 3]]);
});
