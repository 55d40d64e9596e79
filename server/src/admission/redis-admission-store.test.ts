import { createServer } from "node:net";
import { clientBucket } from "@activity/runtime/client-bucket";
import { expect, it } from "vitest";
import { listenLocally } from "../../../test/harness/listening.ts";
import { accountBucket } from "./account-bucket.ts";
import { connectWindowRedis, countRequests, windowKey } from "./redis-admission-store.ts";
import { firstAnswer } from "./redis-connection-store.ts";

it("a window's key has exactly one Redis hash tag, even for an address with brace bytes", () => {
  const braces = `123.125.${"z".charCodeAt(0)}.125`; // the bytes of "{}z}"
  expect(windowKey(clientBucket(braces))).toBe("{637b7d7a7d}");
  expect(windowKey(clientBucket("2001:db8:7b7d::1"))).toBe("{6320010db87b7d0000}");
  expect(windowKey(accountBucket("ab"))).toBe("{616162}");
});

const WRONG_PASSWORD = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";

it.each(["redis", "redis-cluster"])(
  "says why it cannot count: %s with a wrong password",
  async (scheme) => {
    const server = createServer((socket) => {
      // Answers each command, because one chunk can hold several.
      socket.on("data", (sent) => {
        for (const _ of `${sent}`.matchAll(/^\*/gm)) socket.write(WRONG_PASSWORD);
      });
    });
    const port = await listenLocally(server);
    const redis = connectWindowRedis(`${scheme}://:wrong@127.0.0.1:${port}`);
    await firstAnswer(redis);
    await expect(countRequests(redis, [clientBucket("192.0.2.1")])).rejects.toMatchObject({
      name: "LimiterUnavailableError",
      cause: { message: expect.stringMatching(/^WRONGPASS/) },
    });
    redis.disconnect();
    server.close();
  },
);
