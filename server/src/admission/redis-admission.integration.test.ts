import { clientBucket } from "@activity/runtime/client-bucket";
import { expect, it } from "vitest";
import { sendToRedis, startTestRedis } from "../../../test/harness/redis.ts";
import { useStarted } from "../../../test/harness/use-started.ts";
import { createPool } from "../database/pool.ts";
import { type Admission, CLIENT_LIMIT } from "./admission.ts";
import { createRedisAdmission } from "./redis-admission.ts";
import { connectWindowRedis, countRequests, windowKey } from "./redis-admission-store.ts";
import { firstAnswer } from "./redis-connection-store.ts";
import { RedisUrlError } from "./redis-url.ts";

const redis = useStarted(startTestRedis);

/** Runs `work` with an admission whose database is away. */
async function withAdmission(url: string, work: (admission: Admission) => Promise<void>) {
  const pool = createPool("mysql://nobody@127.0.0.1:1/nowhere", 1);
  const uses = { note: () => undefined, stop: () => undefined };
  const admission = createRedisAdmission(url, pool, uses, () => performance.now());
  await admission.ready;
  await work(admission);
  await admission.close();
  await pool.end();
}

it("§8 counts a client while the database is away, so that its limit holds", () =>
  withAdmission(redis.url, async (admission) => {
    const request = { client: clientBucket("192.0.2.1"), keyHash: Buffer.alloc(32) };
    for (let number = 0; number < CLIENT_LIMIT; number++) {
      await expect(admission.admit(request)).rejects.toThrow();
    }
    const refused = { kind: "client_refused", untilMs: expect.any(Number) };
    expect(await admission.admit(request)).toEqual(refused);
    // Deletes the count: the admission remembers the refusal.
    await sendToRedis(redis.url, "FLUSHALL");
    expect(await admission.admit(request)).toEqual(refused);
  }));

it("ADR 0003: after the clock stepped back by over five seconds, admissions count as made now, else time never decreases", async () => {
  const limiter = connectWindowRedis(redis.url);
  await firstAnswer(limiter);
  const countAfterStep = async (seconds: number) => {
    const bucket = clientBucket(`198.51.100.${seconds}`);
    await countRequests(limiter, [bucket]);
    const time = Number(await sendToRedis(redis.url, "LINDEX", windowKey(bucket), 0));
    await sendToRedis(redis.url, "LPUSH", windowKey(bucket), time + seconds * 1_000_000);
    return (await countRequests(limiter, [bucket]))[0];
  };
  expect(await countAfterStep(60)).toEqual({ ok: true, used: 3, resetMicros: 60_000_000 });
  expect((await countAfterStep(4))?.resetMicros).toBeLessThanOrEqual(56_000_000);
  limiter.disconnect();
});

it("counts nothing in database 0 if Redis refuses the database of REDIS_URL", () =>
  withAdmission(`${redis.url}/99`, async (admission) => {
    const client = clientBucket("192.0.2.4");
    await expect(admission.admit({ client })).rejects.toThrow(RedisUrlError);
    expect(await sendToRedis(redis.url, "EXISTS", windowKey(client))).toBe(0);
  }));

it("counts in the database of REDIS_URL once its user may select it, on the same connection", async () => {
  const setRights = (...rights: string[]) =>
    sendToRedis(redis.url, "ACL", "SETUSER", "selector", "on", ">pw", "~*", "+@all", ...rights);
  await setRights("-select");
  const limiter = connectWindowRedis(`${redis.url.replace("//", "//selector:pw@")}/1`);
  let connections = 0;
  limiter.on("connect", () => {
    connections += 1;
  });
  await firstAnswer(limiter);
  const bucket = clientBucket("192.0.2.3");
  await expect(countRequests(limiter, [bucket])).rejects.toThrow(RedisUrlError);
  await setRights("+select");
  expect(await countRequests(limiter, [bucket])).toMatchObject([{ ok: true, used: 1 }]);
  expect(connections).toBe(1);
  limiter.disconnect();
  expect(await sendToRedis(redis.url, "EXISTS", windowKey(bucket))).toBe(0);
});

it("a Redis user without rights is reported with the rights that are enough to count", async () => {
  const setUser = (...rights: string[]) =>
    sendToRedis(redis.url, "ACL", "SETUSER", "limiter", "reset", "on", ">pw", ...rights);
  const count = async () => {
    const limiter = connectWindowRedis(redis.url.replace("//", "//limiter:pw@"));
    await firstAnswer(limiter);
    try {
      return await countRequests(limiter, [clientBucket("192.0.2.2")]);
    } catch (error) {
      return error;
    } finally {
      limiter.disconnect();
    }
  };
  await setUser("+info");
  const advice = await count();
  expect(advice).toBeInstanceOf(RedisUrlError);
  const rights = String(advice).match(/[~+][\w{*}]+(?=[ ,])/g) ?? [];
  for (const missing of ["~{*}", "+lpush"]) {
    await setUser(...rights.filter((right) => right !== missing));
    expect(await count()).toEqual(advice);
  }
  await setUser(...rights);
  expect(await count()).toMatchObject([{ ok: true, used: 1 }]);
});
