import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startRedis } from "../servers/redis.ts";
import { describeStore } from "./conformance.ts";
import { OPEN_BY_CLIENT } from "./kinds.ts";

let server: Awaited<ReturnType<typeof startRedis>>;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

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

describeStore("ioredis", {
  open: () => OPEN_BY_CLIENT.ioredis(server.url),
  url: () => server.url,
});
describeStore("redis", {
  open: () => OPEN_BY_CLIENT.redis(server.url),
  url: () => server.url,
});
