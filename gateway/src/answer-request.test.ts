import { ErrorInfoSchema } from "@activity/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { QUIET } from "../../test/harness/quiet.ts";
import { createGateway, type Gateway } from "./app.ts";
import { parseAnswer, sendRaw } from "./testing/raw-connection.ts";
import {
  coreError,
  createRouterCore,
  EMPTY_PAGE,
  pageWith,
  type RouterCore,
} from "./testing/router-core.ts";

const KEY = `act_live_${"0123456789abcdef".repeat(4)}`;
const HEADERS = `Host: x\r\nAuthorization: Bearer ${KEY}\r\nPrefer: wait=10\r\nConnection: close`;

let core: RouterCore;
let gateway: Gateway;
let port: number;
beforeEach(async () => {
  core = createRouterCore();
  gateway = createGateway({ upstream: core.transport, log: QUIET });
  ({ port } = await gateway.listen(0, "127.0.0.1"));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await gateway.close();
});

describe("ADR 0052: a poll that waits", () => {
  const poll = async () =>
    parseAnswer(
      await sendRaw(port, `GET /api/v1/activity?order=asc HTTP/1.1\r\n${HEADERS}\r\n\r\n`),
    );
  const empty = { ...EMPTY_PAGE, accountId: "account", feedVersion: 1n };
  const filled = { ...pageWith("hi"), accountId: "account", feedVersion: 2n };
  const isWaiting = () => expect.poll(() => core.calls.length).toBeGreaterThan(0);

  /** Replaces the gateway's clock with one that a test moves. Timers keep the real one. */
  function stopClock() {
    const clock = { nowMs: 0 };
    vi.spyOn(performance, "now").mockImplementation(() => clock.nowMs);
    return clock;
  }

  /** Notifies until `done`, because the gateway may open its stream after the first notification. */
  async function notifyUntil<Result>(done: PromiseLike<Result>): Promise<Result> {
    const notifying = setInterval(() => core.notify("account", 2n), 10);
    const result = await done;
    clearInterval(notifying);
    return result;
  }

  it("tells the core that it was counted, except at its first call", async () => {
    core.page = empty;
    const answering = poll();
    await isWaiting();
    core.page = filled;
    expect((await notifyUntil(answering)).status).toBe(200);
    expect(core.calls.map(({ headers }) => headers.get("x-request-counted"))).toEqual([null, "1"]);
  });

  it("is over ten seconds after it came, even if the first read took that long. RFC 7240", async () => {
    const clock = stopClock();
    core.page = empty;
    core.before = () => {
      clock.nowMs = 10_000;
    };
    // The clock stays at ten seconds. A wait that was counted from the read would never end.
    const answer = await poll();
    expect(answer.headers.get("preference-applied")).toBe("wait");
    expect(core.calls).toHaveLength(1);
  });

  it.each([
    [9_500, 51],
    [61_000, 0],
  ])("that waited %d ms shows %d seconds until the limit resets", async (waitedMs, seconds) => {
    const clock = stopClock();
    core.page = empty;
    const answering = poll();
    await isWaiting();
    core.page = filled;
    core.before = () => {
      clock.nowMs = waitedMs;
    };
    const answer = await notifyUntil(answering);
    expect(answer.headers.get("ratelimit")).toBe(`"account";r=119;t=${seconds}`);
    expect(answer.headers.get("ratelimit-policy")).toBe('"account";q=120;w=60');
  });

  it.each([
    [Code.Unauthenticated, "invalid_api_key", 401],
    [Code.PermissionDenied, "account_unavailable", 403],
    [Code.Internal, "internal_error", 500],
  ])("that ends with %s %s still shows what is left of the limit", async (code, reason, status) => {
    const clock = stopClock();
    core.page = empty;
    const answering = poll();
    await isWaiting();
    core.before = () => {
      clock.nowMs = 9_500;
      const details = [{ desc: ErrorInfoSchema, value: { code: reason } }];
      throw new ConnectError("inner text", code, undefined, details);
    };
    const answer = await notifyUntil(answering);
    expect(answer.status).toBe(status);
    expect(answer.headers.get("ratelimit")).toBe('"account";r=119;t=51');
  });

  it("continues to wait while the core is away", async () => {
    core.page = empty;
    const answering = poll();
    await isWaiting();
    core.page = filled;
    core.before = () => {
      core.before = () => undefined;
      throw coreError(Code.Unavailable, "temporarily_unavailable");
    };
    expect((await notifyUntil(answering)).status).toBe(200);
    expect(core.calls).toHaveLength(3);
  });

  it("asks a core again after a pause if that core has an older version", async () => {
    core.page = empty;
    const calledAt: number[] = [];
    core.before = () => {
      if (calledAt.push(performance.now()) === 3) core.page = filled;
    };
    expect((await notifyUntil(poll())).status).toBe(200);
    const [, second = 0, third = 0] = calledAt;
    // The gateway pauses for 500 ms after a page of an older version, and for 100 ms after a newer empty page.
    expect(third - second).toBeGreaterThan(400);
    expect(core.calls).toHaveLength(3);
  });
});
