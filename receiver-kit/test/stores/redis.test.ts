import { afterAll, beforeAll } from "vitest";
import { startRedis } from "../servers/redis.ts";
import { describeStore } from "./conformance.ts";
import { OPEN_BY_CLIENT } from "./kinds.ts";

let server: Awaited<ReturnType<typeof startRedis>>;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

describeStore("ioredis", {
  open: () => OPEN_BY_CLIENT.ioredis(server.url),
  url: () => server.url,
});
describeStore("redis", {
  open: () => OPEN_BY_CLIENT.redis(server.url),
  url: () => server.url,
});
