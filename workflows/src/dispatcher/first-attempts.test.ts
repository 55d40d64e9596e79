import { once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { DispatchService } from "@activity/proto";
import { PROCESS_TIMING as timing } from "@activity/runtime/timing";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { afterEach, expect, it, vi } from "vitest";
import { QUIET } from "../../../test/harness/quiet.ts";
import { createRecorder, type Recorder } from "../attempt/recorder.ts";
import { ProxyFailure } from "../http/egress-proxy.ts";
import type { Sender } from "../http/sender.ts";
import { startFirstAttempts } from "./first-attempts.ts";
import type { Poller } from "./poller.ts";

const CLAIMED = {
  run: { accountNo: 1n, deliveryId: "delivery1234567", run: 1 },
  ready: { url: "https://receiver.example/hook", secret: "whsec_c2VjcmV0", eventId: "event" },
};

let poller: Poller | undefined;
let recorder: Recorder | undefined;
afterEach(async () => {
  await recorder?.close(0);
  await poller?.stop();
});

/**
 * Starts first attempts. The core's first `times` claims return the same delivery. The last of them waits for `found`.
 * The egress proxy fails the first `proxyFailures` attempts. Each POST waits until the test answers it.
 */
function startAttempts({ times = 1, found = Promise.resolve(), proxyFailures = 0 }) {
  let claims = 0;
  let records = 0;
  let failed = 0;
  const posts: (() => void)[] = [];
  const transport = createRouterTransport(({ rpc }) => {
    rpc(DispatchService.method.claimAttempts, async (_request, { signal }) => {
      claims += 1;
      if (claims === times) await found;
      if (claims > times) await once(signal, "abort");
      return { attempts: [CLAIMED] };
    });
    rpc(DispatchService.method.recordAttempts, () => {
      records += 1;
      return {};
    });
  });
  const report = { outcome: "delivered", durationMs: 1, status: 200 } as const;
  const sender: Sender = {
    async attempt() {
      if (failed < proxyFailures) {
        failed += 1;
        throw new ProxyFailure("it answered 403");
      }
      await new Promise<void>((resolve) => posts.push(resolve));
      return { ...report, detail: undefined, headers: undefined, bodyStart: undefined };
    },
    close: () => undefined,
  };
  const dispatch = createClient(DispatchService, transport);
  recorder = createRecorder(dispatch, QUIET, timing);
  poller = startFirstAttempts({ dispatch, sender, recorder, nowMs: () => 0, timing, log: QUIET });
  return { posts, claims: () => claims, records: () => records };
}

// `test/simulation` checks that an attempt is made once, even if it is claimed again.

it("neither records nor uses up an attempt that the egress proxy failed. §6.4, ADR 0027", async () => {
  const { posts, claims, records } = startAttempts({ times: 20, proxyFailures: 2 });
  await expect.poll(() => posts.length).toBe(1);
  expect(records()).toBe(0);
  posts[0]?.();
  await expect.poll(records).toBe(1);
  expect(claims()).toBeGreaterThan(2);
});

it("sends no claim once it drains, even if an outage delayed the claim until then. ADR 0043", async () => {
  const { promise: found, resolve: answer } = Promise.withResolvers<void>();
  const { posts, claims } = startAttempts({ found });
  await expect.poll(claims).toBe(1);
  const outage = Promise.withResolvers<void>();
  const caughtUp = vi.spyOn(recorder as Recorder, "caughtUp").mockReturnValue(outage.promise);
  answer();
  await expect.poll(() => [caughtUp.mock.calls.length, posts.length]).toEqual([1, 1]);
  posts[0]?.();
  poller?.drain();
  outage.resolve();
  // A claim would have reached the core before this resolves.
  await turn();
  expect(claims()).toBe(1);
});
