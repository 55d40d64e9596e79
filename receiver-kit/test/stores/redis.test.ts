import { randomUUID } from "node:crypto";
import { createClient, RESP_TYPES } from "redis";
import { expect, it } from "vitest";
import { startTestRedis } from "../../../test/harness/redis.ts";
import { useStarted } from "../../../test/harness/use-started.ts";
import { createNodeRedisStore } from "../../src/stores/redis/index.ts";
import { describeStore } from "./conformance.ts";
import { OPEN_BY_CLIENT } from "./kinds.ts";

const server = useStarted(startTestRedis);

it.each(["ioredis", "redis"] as const)(
  "%s: a script that its client sent again has the same answer",
  async (client) => {
    const { claims, close } = await OPEN_BY_CLIENT[client](server.url);
    const eventId = randomUUID();
    for (let time = 0; time < 2; time++) {
      expect(await claims.claim(eventId, "owner", 60_000)).toBe("claimed");
    }
    for (let time = 0; time < 2; time++) {
      expect(await claims.complete(eventId, "owner", 60_000)).toBe(true);
    }
    expect(await claims.complete(eventId, "another", 60_000)).toBe(false);
    expect(await claims.claim(eventId, "another", 60_000)).toBe("done");
    await close();
  },
);

it("understands a client of node-redis that returns texts as Buffers", async () => {
  const bytes = { [RESP_TYPES.BLOB_STRING]: Buffer };
  const client = createClient({ url: server.url, commandOptions: { typeMapping: bytes } });
  await client.connect();
  const store = createNodeRedisStore(client);
  const eventId = randomUUID();
  expect(await store.runOnce(eventId, async () => {})).toBe("handled");
  expect(await store.runOnce(eventId, async () => {})).toBe("seen_before");
  await client.close();
});

describeStore("ioredis", { open: () => OPEN_BY_CLIENT.ioredis(server.url), url: () => server.url });
describeStore("redis", { open: () => OPEN_BY_CLIENT.redis(server.url), url: () => server.url });
