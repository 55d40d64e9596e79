import { once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { type ClaimAttemptsRequest, DispatchService } from "@activity/proto";
import { createLog } from "@activity/runtime/log";
import { type Timing, PROCESS_TIMING as timing } from "@activity/runtime/timing";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { afterEach, expect, it, vi } from "vitest";
import { QUIET } from "../../../test/harness/quiet.ts";
import { createRecorder, type Recorder } from "../attempt/recorder.ts";
import { ProxyFailure } from "../http/egress-proxy.ts";
import type { Sender } from "../http/sender.ts";
import { startFirstAttempts } from "./first-attempts.ts";
import type { Poller } from "./poller.ts";

const READY = { url: "https://receiver.example/hook", secret: "whsec_c2VjcmV0", eventId: "event" };
/** Returns claimed attempts of different endpoints, always the same for a count. */
const claimedOf = (count: number) =>
  Array.from({ length: count }, (_, number) => ({
    run: { accountNo: 1n, deliveryId: `${count} ${number}`, run: 1 },
    ready: { ...READY, endpointId: `${count} ${number}` },
  }));

/** A timing in which waits between claims take no time. */
const UNPACED: Timing = {
  ...timing,
  after(_milliseconds, work) {
    const due = setImmediate(work);
    return () => clearImmediate(due);
  },
};

let poller: Poller | undefined;
let recorder: Recorder | undefined;
afterEach(async () => {
  await recorder?.close(0);
  await poller?.stop();
});

/**
 * Starts first attempts. The core answers its claims, in turn, with these `counts` of deliveries. The last of these
 * answers waits for `found`. The egress proxy fails the first `proxyFailures` attempts, or `bug` fails each. Each POST
 * waits until the test answers it. `logged` gets the lines of the log.
 */
function startAttempts({
  counts = [1],
  found = Promise.resolve(),
  proxyFailures = 0,
  bug,
}: {
  counts?: number[];
  found?: Promise<void>;
  proxyFailures?: number;
  bug?: Error;
}) {
  const logged: unknown[] = [];
  const claims: ClaimAttemptsRequest[] = [];
  let records = 0;
  let failed = 0;
  const posts: (() => void)[] = [];
  const transport = createRouterTransport(({ rpc }) => {
    rpc(DispatchService.method.claimAttempts, async (request, { signal }) => {
      const count = counts[claims.push(request) - 1] ?? 0;
      if (claims.length === counts.length) await found;
      if (claims.length > counts.length) await once(signal, "abort");
      return { attempts: claimedOf(count) };
    });
    rpc(DispatchService.method.recordAttempts, () => {
      records += 1;
      return {};
    });
  });
  const report = { outcome: "delivered", durationMs: 1, status: 200 } as const;
  const sender: Sender = {
    async attempt() {
      if (bug) throw bug;
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
  poller = startFirstAttempts({
    ...{ dispatch, sender, recorder, nowMs: () => 0, timing: UNPACED },
    log: createLog((line) => void logged.push(JSON.parse(line))),
  });
  return { posts, claims, logged, records: () => records };
}

// `test/simulation` checks that an attempt is made once, even if it is claimed again.

it("neither records nor uses up an attempt that the egress proxy failed. §6.4, ADR 0027", async () => {
  const { posts, claims, records } = startAttempts({ counts: Array(20).fill(1), proxyFailures: 2 });
  await expect.poll(() => posts.length).toBe(1);
  expect(records()).toBe(0);
  posts[0]?.();
  await expect.poll(records).toBe(1);
  expect(claims.length).toBeGreaterThan(2);
});

it("sends no claim once it drains, even if an outage delayed the claim until then. ADR 0043", async () => {
  const { promise: found, resolve: answer } = Promise.withResolvers<void>();
  const { posts, claims } = startAttempts({ found });
  await expect.poll(() => claims.length).toBe(1);
  const outage = Promise.withResolvers<void>();
  const caughtUp = vi.spyOn(recorder as Recorder, "caughtUp").mockReturnValue(outage.promise);
  answer();
  await expect.poll(() => [caughtUp.mock.calls.length, posts.length]).toEqual([1, 1]);
  posts[0]?.();
  poller?.drain();
  outage.resolve();
  // A claim would have reached the core before this resolves.
  await turn();
  expect(claims).toHaveLength(1);
});

it("claims fewer attempts of an endpoint the more are in flight, 4,096 at most. ADR 0028", async () => {
  const { posts, claims } = startAttempts({ counts: [1_024, 3_072] });
  await expect.poll(() => posts.length).toBe(4_096);
  // A third claim would have reached the core before this resolves, with the limit 0.
  await turn();
  posts[0]?.();
  await expect.poll(() => claims.length).toBe(3);
  expect(claims).toMatchObject([{ endpointLimit: 64 }, { endpointLimit: 1 }, { limit: 1 }]);
  for (const answer of posts) answer();
});

it("logs at a stop, in one line, how many attempts the core has not recorded. ADR 0043", async () => {
  const { posts, logged } = startAttempts({ counts: [3] });
  await expect.poll(() => posts.length).toBe(3);
  await recorder?.close(0);
  for (const answer of posts) answer();
  await poller?.stop();
  const message = "attempts could not be recorded: they may be made again";
  expect(logged).toEqual([{ level: "error", message, attempts: 3 }]);
});

it("names in the log the attempt that a bug prevented", async () => {
  const { logged } = startAttempts({ bug: new TypeError("x") });
  const attempt = { accountNo: 1, deliveryId: "1 0", run: 1, attempt: 1 };
  const line = { message: "an attempt could not be made", ...attempt };
  await expect.poll(() => logged).toMatchObject([line]);
});
