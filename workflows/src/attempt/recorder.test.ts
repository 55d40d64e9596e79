import { DispatchService } from "@activity/proto";
import { PROCESS_TIMING, type Timing } from "@activity/runtime/timing";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { afterEach, expect, it, vi } from "vitest";
import { QUIET } from "../../../test/harness/quiet.ts";
import { AttemptOutcome } from "../http/attempt-outcome.ts";
import type { FinishedAttempt } from "./make-attempt.ts";
import { createRecorder } from "./recorder.ts";

afterEach(() => {
  vi.useRealTimers();
});

const keyOf = (deliveryId: string) => ({ accountNo: 1, deliveryId, run: 1, attempt: 1 });
const DELIVERED: FinishedAttempt = {
  outcome: AttemptOutcome.Delivered,
  startedAtMs: 1_600_000_000_000,
  durationMs: 5,
  status: 200,
  detail: undefined,
  headers: undefined,
  bodyStart: undefined,
};

/** A clock that runs five times as fast. */
const FAST: Timing = {
  nowMs: () => 5 * PROCESS_TIMING.nowMs(),
  after: (milliseconds, work) => PROCESS_TIMING.after(milliseconds / 5, work),
};

/**
 * Creates a recorder. Its core answers each call with `answer`, and notes the call's delivery ids, delays and
 * durations.
 */
function recorderOf(
  answer: (ids: readonly string[]) => number[] | Promise<number[]>,
  timing = FAST,
) {
  const calls: string[][] = [];
  const retryIns: number[] = [];
  const durations: number[] = [];
  const transport = createRouterTransport(({ rpc }) => {
    rpc(DispatchService.method.recordAttempts, async ({ attempts }) => {
      const ids = attempts.map(({ run }) => run?.deliveryId ?? "");
      calls.push(ids);
      retryIns.push(...attempts.map(({ retryIn }) => Number(retryIn?.seconds)));
      durations.push(...attempts.map(({ duration }) => Number(duration?.seconds)));
      return { busy: await answer(ids) };
    });
  });
  const dispatch = createClient(DispatchService, transport);
  return { calls, retryIns, durations, recorder: createRecorder(dispatch, QUIET, timing) };
}

it("counts the delay of a retry from the end of the attempt, whichever process made it. §6.4", async () => {
  const timing = { ...PROCESS_TIMING, nowMs: () => 1_000 };
  const { recorder, retryIns } = recorderOf(() => [], timing);
  const failed = { ...DELIVERED, outcome: AttemptOutcome.Timeout };
  await recorder.record(keyOf("own"), failed);
  await recorder.record(keyOf("other"), failed, [], 45_000);
  await recorder.record(keyOf("late"), failed, [], 90_000);
  expect(retryIns).toEqual([60, 15, 0]);
});

it("reports at most the hour that the core accepts for an attempt whose process was frozen", async () => {
  const { recorder, durations } = recorderOf(() => []);
  await recorder.record(keyOf("frozen"), { ...DELIVERED, durationMs: 7_200_000 });
  expect(durations).toEqual([3_600]);
});

it("repeats an unanswered record call while the attempts' leases last. ADR 0028", async () => {
  vi.useFakeTimers();
  const { calls, recorder } = recorderOf(
    () => (calls.length === 1 ? new Promise(() => undefined) : []),
    PROCESS_TIMING,
  );
  const recorded = recorder.record(keyOf("a"), DELIVERED);
  // A lease lasts 14 seconds. After an attempt of five seconds, two calls of at most four seconds fit into it.
  await vi.advanceTimersByTimeAsync(4_500);
  expect(calls).toEqual([["a"], ["a"]]);
  await recorded;
});

it("records the other attempts while their leases last, and has caught up, although each call with any of eight attempts is late. ADR 0028", async () => {
  vi.useFakeTimers();
  const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const { recorder } = recorderOf(async (ids) => {
    const late = ids.flatMap((id, place) => (id.startsWith("late") ? [place] : []));
    await after(late.length > 0 ? (ids.length > 1 ? 5_000 : 2_000) : 20);
    return late;
  }, PROCESS_TIMING);
  const record = (id: string) => recorder.record(keyOf(id), DELIVERED);
  const beganMs = new Map<string, number>();
  let longestMs = 0;
  const begin = (id: string) => {
    beganMs.set(id, performance.now());
    void record(id).then(() => {
      longestMs = Math.max(longestMs, performance.now() - (beganMs.get(id) ?? 0));
      beganMs.delete(id);
    });
  };
  begin("first");
  const late = Array.from({ length: 8 }, (_, number) => record(`late ${number}`));
  for (let second = 0; second < 60; second++) {
    for (let number = 0; number < 200; number++) begin(`${second} ${number}`);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  await vi.advanceTimersByTimeAsync(14_000);
  expect(beganMs.size).toBe(0);
  expect(longestMs).toBeLessThan(14_000);
  await recorder.caughtUp();
  const rejected = late.map((one) => expect(one).rejects.toThrow("not recorded it"));
  const closed = Promise.all([...rejected, recorder.close(0)]);
  await vi.advanceTimersByTimeAsync(1);
  await closed;
});

it("sends waiting attempts in one call, at most one of a delivery, and the same attempt once", async () => {
  const { calls, recorder } = recorderOf(() => []);
  const second = { ...keyOf("b"), attempt: 2 };
  await Promise.all([
    recorder.record(keyOf("a"), DELIVERED),
    recorder.record(keyOf("b"), DELIVERED),
    recorder.record(keyOf("b"), DELIVERED),
    recorder.record(second, DELIVERED),
    recorder.record(keyOf("c"), DELIVERED),
  ]);
  expect(calls).toEqual([["a"], ["b", "c"], ["b"]]);
});

it("sends an attempt again, behind the others, when its delivery is being written", async () => {
  let isBusy = true;
  const { calls, recorder } = recorderOf((ids) => {
    const places = isBusy && ids.includes("a") ? [ids.indexOf("a")] : [];
    isBusy = false;
    return places;
  });
  const order: string[] = [];
  await Promise.all(
    ["a", "b"].map(async (id) => {
      await recorder.record(keyOf(id), DELIVERED);
      order.push(id);
    }),
  );
  expect(order).toEqual(["b", "a"]);
  expect(calls.flat().filter((id) => id === "a")).toHaveLength(2);
});

it.each([Code.Internal, Code.InvalidArgument, Code.Unknown])(
  "keeps the one attempt that the core refuses with code %i, and records the others. ADR 0028",
  async (code) => {
    let refusals = 0;
    const { calls, recorder } = recorderOf((ids) => {
      if (!ids.includes("bad") || refusals === 3) return [];
      refusals += 1;
      throw new ConnectError("no such thing", code);
    });
    const order: string[] = [];
    await Promise.all(
      ["a", "bad", "b"].map(async (id) => {
        await recorder.record(keyOf(id), DELIVERED);
        order.push(id);
      }),
    );
    // The refused attempt is sent with the others first, then alone until the core records it.
    expect(order.at(-1)).toBe("bad");
    const withBad = calls.filter((ids) => ids.includes("bad"));
    expect(withBad.slice(-3)).toEqual([["bad"], ["bad"], ["bad"]]);
  },
);

it("sends an attempt that the core refuses again after growing waits. ADR 0028", async () => {
  vi.useFakeTimers();
  const { calls, recorder } = recorderOf(() => {
    throw new ConnectError("no such thing", Code.Internal);
  }, PROCESS_TIMING);
  const rejected = expect(recorder.record(keyOf("bad"), DELIVERED)).rejects.toThrow("ended");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(calls.length).toBeGreaterThan(5);
  expect(calls.length).toBeLessThanOrEqual(10);
  const closed = Promise.all([rejected, recorder.close(0)]);
  await vi.advanceTimersByTimeAsync(1);
  await closed;
});

it("has caught up after an outage once every attempt that waited is recorded. ADR 0028", async () => {
  let isAway = true;
  const { recorder } = recorderOf(() => {
    if (isAway) throw new ConnectError("away", Code.Unavailable);
    return [];
  });
  await recorder.caughtUp();
  const recorded: string[] = [];
  const all = Array.from({ length: 200 }, async (_, index) => {
    await recorder.record(keyOf(`${index}`), DELIVERED);
    recorded.push(`${index}`);
  });
  // The first call fails. All waiting attempts now belong to the outage.
  await new Promise((resolve) => setImmediate(resolve));
  await expect.poll(() => isPending(recorder.caughtUp())).toBe(true);
  isAway = false;
  await recorder.caughtUp();
  expect(recorded.length).toBeGreaterThanOrEqual(200 - 1);
  await Promise.all(all);
  expect(recorded).toHaveLength(200);
});

it("has caught up after an outage beside an attempt that the core refused before. ADR 0028", async () => {
  let fails: (() => void) | undefined;
  const { calls, recorder } = recorderOf((ids) => {
    fails?.();
    if (ids.includes("bad")) throw new ConnectError("no such thing", Code.Internal);
    return [];
  });
  const refused = expect(recorder.record(keyOf("bad"), DELIVERED)).rejects.toThrow("ended");
  // After the fifth refusal, the refused attempt waits at least four seconds of the fast clock.
  await expect.poll(() => calls.length).toBeGreaterThanOrEqual(5);
  const away = Promise.withResolvers<void>();
  fails = () => {
    fails = undefined;
    away.resolve();
    throw new ConnectError("away", Code.Unavailable);
  };
  await recorder.record(keyOf("a"), DELIVERED);
  await away.promise;
  expect(await isPending(recorder.caughtUp())).toBe(false);
  await recorder.close(10);
  await refused;
});

async function isPending(promise: Promise<void>): Promise<boolean> {
  const ended = promise.then(() => false);
  return Promise.race([ended, new Promise<boolean>((resolve) => setImmediate(resolve, true))]);
}
