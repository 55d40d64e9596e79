import { clientBucket } from "@activity/runtime/client-bucket";
import { expect, it } from "vitest";
import { startTestRedis } from "../../../test/harness/redis.ts";
import { useStarted } from "../../../test/harness/use-started.ts";
import { createPool } from "../database/pool.ts";
import { CLIENT_LIMIT } from "./admission.ts";
import { createRedisAdmission } from "./redis-admission.ts";

const redis = useStarted(startTestRedis);

it("§8 counts a client while the database is away, so that its limit holds", async () => {
  const pool = createPool("mysql://nobody@127.0.0.1:1/nowhere", 1);
  const uses = { note: () => undefined, stop: () => undefined };
  const nowMs = () => performance.now();
  const admission = createRedisAdmission(redis.url, pool, uses, nowMs);
  await admission.ready;
  const request = { client: clientBucket("192.0.2.1"), keyHash: Buffer.alloc(32) };
  for (let number = 0; number < CLIENT_LIMIT; number++) {
    await expect(admission.admit(request)).rejects.toThrow();
  }
  expect(await admission.admit(request)).toMatchObject({ kind: "client_refused" });
  await admission.close();
  await pool.end();
});
