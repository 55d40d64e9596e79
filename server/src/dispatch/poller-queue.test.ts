import { PROCESS_TIMING } from "@activity/runtime/timing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createPollerQueue, type Look, type PollerQueue } from "./poller-queue.ts";

const SWEEP_MS = 5_000;
const NOTHING: Look<string> = { entries: [], throttled: new Set(), hasMore: false };
const found = (...entries: string[]): Look<string> => ({ ...NOTHING, entries });
const IDLE = { limit: 8, idle: true, slow: new Set<string>() };
const BUSY = { ...IDLE, idle: false };

let queue: PollerQueue<string>;
beforeEach(() => {
  vi.useFakeTimers();
  queue = createPollerQueue(PROCESS_TIMING);
});
afterEach(() => {
  vi.useRealTimers();
});

/** Runs everything that is due now. */
const settle = () => vi.advanceTimersByTimeAsync(0);
const notify = () => {
  queue.notify();
  return settle();
};

const notifyCapacity = (...ended: string[]) => {
  queue.notifyCapacity(new Set(ended));
  return settle();
};

/** Creates a poller whose looks find nothing by default. */
function createPoller(poller = BUSY) {
  const look = vi.fn(async () => NOTHING);
  const caller = new AbortController();
  const got: string[][] = [];
  const start = () =>
    queue.claim(look, poller, caller.signal).then((entries) => got.push([...entries]));
  const begin = () => {
    void start();
    return settle();
  };
  return { look, got, start, begin, leave: () => caller.abort() };
}

/** Starts pollers that wait. The first has waited longest. Only the first has looked, and found nothing. */
async function startPollers(...kinds: (typeof BUSY)[]) {
  const pollers = kinds.map(createPoller);
  for (const poller of pollers) {
    await poller.begin();
  }
  const looks = () => pollers.map(({ look }) => look.mock.calls.length);
  const got = () => pollers.map((poller) => poller.got);
  return { pollers, looks, got };
}

describe("a notification", () => {
  it("wakes only the poller that has waited longest", async () => {
    const { pollers, looks, got } = await startPollers(BUSY, BUSY, BUSY);
    pollers[0]?.look.mockResolvedValue(found("a"));
    await notify();
    expect(looks()).toEqual([2, 0, 0]);
    expect(got()).toEqual([[["a"]], [], []]);
    pollers[1]?.look.mockResolvedValue(found("b"));
    await notify();
    expect(got()).toEqual([[["a"]], [["b"]], []]);
  });

  it("wakes the next poller when the first may have left entries", async () => {
    const { pollers, looks, got } = await startPollers(BUSY, BUSY, BUSY);
    pollers[0]?.look.mockResolvedValue({ ...found("a"), hasMore: true });
    pollers[1]?.look.mockResolvedValue(found("b"));
    await notify();
    expect(got()).toEqual([[["a"]], [["b"]], []]);
    expect(looks()).toEqual([2, 1, 0]);
  });

  it("of capacity during a look that counted the ended attempt makes the poller look again", async () => {
    const poller = createPoller();
    poller.look
      .mockImplementationOnce(async () => {
        queue.notifyCapacity(new Set(["full"]));
        return { ...NOTHING, throttled: new Set(["full"]) };
      })
      .mockResolvedValue(found("a"));
    await poller.begin();
    expect(poller.got).toEqual([["a"]]);
    expect(poller.look).toHaveBeenCalledTimes(2);
  });

  it("of capacity works after an older look ended last", async () => {
    const [older, newer] = [createPoller(), createPoller()];
    const slow = Promise.withResolvers<Look<string>>();
    older.look.mockReturnValueOnce(slow.promise).mockResolvedValue(found("a"));
    newer.look.mockResolvedValueOnce({ ...NOTHING, throttled: new Set(["full"]) });
    void older.start();
    queue.notify();
    await newer.begin();
    slow.resolve(NOTHING);
    await settle();
    expect(older.got).toEqual([]);
    newer.leave();
    await notifyCapacity("full");
    expect(older.got).toEqual([["a"]]);
  });
});

describe("while nothing was committed", () => {
  it("pollers look only once in five seconds", async () => {
    const { looks } = await startPollers(BUSY, BUSY, BUSY);
    expect(looks()).toEqual([1, 0, 0]);
    await vi.advanceTimersByTimeAsync(SWEEP_MS - 1);
    expect(looks()).toEqual([1, 0, 0]);
    await vi.advanceTimersByTimeAsync(1);
    expect(looks().reduce((sum, count) => sum + count)).toBe(2);
    await vi.advanceTimersByTimeAsync(3 * SWEEP_MS);
    expect(looks().reduce((sum, count) => sum + count)).toBe(5);
  });

  it("a failed look is repeated by the next poller", async () => {
    const failing = createPoller();
    failing.look.mockRejectedValue(new Error("out of reach"));
    await expect(failing.start()).rejects.toThrow("out of reach");
    const next = createPoller();
    await next.begin();
    expect(next.look).toHaveBeenCalledTimes(1);
  });
});

it("the end of an attempt wakes a poller only if the last look left entries of its endpoint", async () => {
  const poller = createPoller();
  poller.look.mockResolvedValueOnce({ ...NOTHING, throttled: new Set(["e"]) });
  await poller.begin();
  await notifyCapacity("other");
  expect(poller.look).toHaveBeenCalledTimes(1);
  await notifyCapacity("other", "e");
  expect(poller.look).toHaveBeenCalledTimes(2);
});

describe("a reservation", () => {
  it("takes the idle poller that has waited longest, and has its limit", async () => {
    const { got, looks } = await startPollers(BUSY, { ...IDLE, limit: 3 }, IDLE);
    const reservation = queue.reserve();
    expect(reservation).toMatchObject({ leaseId: expect.stringMatching(/^[a-z0-9]{15}$/) });
    expect(reservation?.limit).toBe(3);
    reservation?.give(["a", "b"]);
    await settle();
    expect(got()).toEqual([[], [["a", "b"]], []]);
    expect(looks()).toEqual([1, 0, 0]);
  });

  it("takes no poller that is busy or already reserved", async () => {
    expect(queue.reserve()).toBeUndefined();
    await startPollers(BUSY);
    expect(queue.reserve()).toBeUndefined();
    await startPollers(IDLE);
    expect(queue.reserve()).toBeDefined();
    expect(queue.reserve()).toBeUndefined();
  });

  it("lets its poller wait on when there is nothing to give", async () => {
    const { pollers, got, looks } = await startPollers(IDLE);
    queue.reserve()?.give([]);
    await settle();
    expect([got(), looks()]).toEqual([[[]], [1]]);
    queue.reserve()?.give(["a"]);
    await settle();
    expect(got()).toEqual([[["a"]]]);
    expect(pollers[0]?.look).toHaveBeenCalledTimes(1);
  });

  it("lets its poller look when another entry was committed meanwhile", async () => {
    const { pollers, got } = await startPollers(IDLE);
    pollers[0]?.look.mockResolvedValue(found("other"));
    const reservation = queue.reserve();
    await notify();
    expect(got()).toEqual([[]]);
    reservation?.give([]);
    await settle();
    expect(got()).toEqual([[["other"]]]);
  });

  it("ends when its poller's sweep is due, and the poller looks", async () => {
    const { looks } = await startPollers(IDLE);
    const reservation = queue.reserve();
    await vi.advanceTimersByTimeAsync(SWEEP_MS);
    expect(looks()).toEqual([2]);
    expect(reservation?.give(["a"])).toBe(false);
  });
});

describe("the end of a wait", () => {
  it("returns nothing, and a later commit goes to another poller", async () => {
    const { pollers, got, looks } = await startPollers(IDLE, IDLE);
    pollers[0]?.leave();
    await settle();
    expect(got()).toEqual([[[]], []]);
    pollers[1]?.look.mockResolvedValue(found("a"));
    await notify();
    expect([got(), looks()]).toEqual([
      [[[]], [["a"]]],
      [1, 1],
    ]);
  });

  it("before its start prevents any look", async () => {
    const poller = createPoller();
    poller.leave();
    await poller.start();
    expect([poller.got, poller.look.mock.calls.length]).toEqual([[[]], 0]);
  });

  it("leaves no timer behind", async () => {
    const { pollers } = await startPollers(IDLE, BUSY);
    for (const poller of pollers) poller.leave();
    await settle();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("a writer waits for the pollers to catch up, ADR 0031", () => {
  const MAX_MS = 250;
  async function startWaiting() {
    let isOver = false;
    void queue.caughtUp(MAX_MS).then(() => {
      isOver = true;
    });
    await settle();
    return () => isOver;
  }

  it("not at all while nobody claims or while a poller waits", async () => {
    expect((await startWaiting())()).toBe(true);
    await startPollers(BUSY);
    await vi.advanceTimersByTimeAsync(2_000);
    expect((await startWaiting())()).toBe(true);
  });

  it("until a poller has claimed every entry", async () => {
    const { pollers } = await startPollers(BUSY);
    pollers[0]?.look.mockResolvedValueOnce(found("a"));
    await notify();
    const isOver = await startWaiting();
    pollers[0]?.look.mockResolvedValueOnce(found("b"));
    queue.notify();
    await pollers[0]?.begin();
    expect(isOver()).toBe(false);
    await pollers[0]?.begin();
    expect(isOver()).toBe(true);
  });

  it("for at most the given time, and not again while the poller is absent", async () => {
    const { pollers } = await startPollers(BUSY);
    pollers[0]?.look.mockResolvedValueOnce(found("a"));
    await notify();
    const isOver = await startWaiting();
    await vi.advanceTimersByTimeAsync(MAX_MS - 1);
    expect(isOver()).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isOver()).toBe(true);
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await startWaiting())()).toBe(true);
  });
});
