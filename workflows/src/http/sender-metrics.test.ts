import { createLog } from "@activity/runtime/log";
import { NO_METRICS } from "@activity/runtime/metrics";
import { expect, it } from "vitest";
import { ProxyFailure } from "./egress-proxy.ts";
import type { PostRequest } from "./post-once.ts";
import type { Sender } from "./sender.ts";
import { measured } from "./sender-metrics.ts";

it("logs the first failure of the egress proxy, with the reason", async () => {
  const lines: string[] = [];
  const failing: Sender = {
    attempt: () => Promise.reject(new ProxyFailure("it answered 407")),
    close() {},
  };
  const sender = measured(
    failing,
    NO_METRICS,
    createLog((line) => void lines.push(line)),
  );
  for (let attempt = 0; attempt < 2; attempt++) {
    await expect(sender.attempt({} as PostRequest)).rejects.toThrow(ProxyFailure);
  }
  expect(lines.map((line) => JSON.parse(line).reason)).toEqual(["it answered 407"]);
});
