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

/** Lets everything happen that needs no time. */
const settle = () => vi.advanceTimersByTimeAsync(0);

/** A poller whose looks find nothing unless told otherwise. */
function createPoller(poller = BUSY) {
  const look = vi.fn(async () => NOTHING);
  const caller = new AbortController();
  const got: string[][] = [];
  const start = () =>
    queue.claim(look, poller, caller.signal).then((entries) => got.push([...entries]));
  return { look, got, start, leave: () => caller.abort() };
}

/** Pollers that wait, the first for longest: the first has looked, and found nothing. */
async function startPollers(...kinds: (typeof BUSY)[]) {
  const pollers = kinds.map(createPoller);
  for (const poller of pollers) {
    void poller.start();
    await settle();
  }
  const looks = () => pollers.map(({ look }) => look.mock.calls.length);
  const got = () => pollers.map((poller) => poller.got);
  return { pollers, looks, got };
}

describe("a notification", () => {
  it("wakes who has waited longest, and nobody else", async () => {
    const { pollers, looks, got } = await startPollers(BUSY, BUSY, BUSY);
    pollers[0]?.look.mockResolvedValue(found("a"));
    queue.notify();
    await settle();
    expect(looks()).toEqual([2, 0, 0]);
    expect(got()).toEqual([[["a"]], [], []]);
    pollers[1]?.look.mockResolvedValue(found("b"));
    queue.notify();
    await settle();
    expect(got()).toEqual([[["a"]], [["b"]], []]);
  });

  it("goes on to the next when the one that it woke may have left something", async () => {
    const { pollers, looks, got } = await startPollers(BUSY, BUSY, BUSY);
    pollers[0]?.look.mockResolvedValue({ ...found("a"), hasMore: true });
    pollers[1]?.look.mockResolvedValue(found("b"));
    queue.notify();
    await settle();
    expect(got()).toEqual([[["a"]], [["b"]], []]);
    expect(looks()).toEqual([2, 1, 0]);
  });

  it("of a commit during a look is not missed: who looks then looks again", async () => {
    const poller = createPoller();
    poller.look
      .mockImplementationOnce(async () => {
        queue.notify();
        return NOTHING;
      })
      .mockResolvedValue(found("a"));
    void poller.start();
    await settle();
    expect(poller.got).toEqual([["a"]]);
    expect(poller.look).toHaveBeenCalledTimes(2);
  });

  it("of a commit during a look that found something is left to the next poller", async () => {
    const first = createPoller();
    first.look.mockImplementation(async () => {
      queue.notify();
      return found("a");
    });
    void first.start();
    await settle();
    const next = createPoller();
    void next.start();
    await settle();
    expect(first.got).toEqual([["a"]]);
    expect(next.look).toHaveBeenCalledTimes(1);
  });
});

describe("while nothing was committed", () => {
  it("nobody looks that somebody has not looked before, but once in five seconds", async () => {
    const { looks } = await startPollers(BUSY, BUSY, BUSY);
    expect(looks()).toEqual([1, 0, 0]);
    await vi.advanceTimersByTimeAsync(SWEEP_MS - 1);
    expect(looks()).toEqual([1, 0, 0]);
    await vi.advanceTimersByTimeAsync(1);
    expect(looks().reduce((sum, count) => sum + count)).toBe(2);
    await vi.advanceTimersByTimeAsync(3 * SWEEP_MS);
    expect(looks().reduce((sum, count) => sum + count)).toBe(5);
  });

  it("a look that failed is made again by the next one that claims", async () => {
    const failing = createPoller();
    failing.look.mockRejectedValue(new Error("out of reach"));
    await expect(failing.start()).rejects.toThrow("out of reach");
    const next = createPoller();
    void next.start();
    await settle();
    expect(next.look).toHaveBeenCalledTimes(1);
  });
});

describe("the end of an attempt", () => {
  it("wakes who waits when the last look left something of its endpoint", async () => {
    const poller = createPoller();
    poller.look.mockResolvedValueOnce({ ...NOTHING, throttled: new Set(["e"]) });
    void poller.start();
    await settle();
    queue.notifyCapacity(new Set(["other"]));
    await settle();
    expect(poller.look).toHaveBeenCalledTimes(1);
    queue.notifyCapacity(new Set(["other", "e"]));
    await settle();
    expect(poller.look).toHaveBeenCalledTimes(2);
  });

  it("wakes nobody when it left nothing", async () => {
    const { looks } = await startPollers(BUSY);
    queue.notifyCapacity(new Set(["e"]));
    await settle();
    expect(looks()).toEqual([1]);
  });
});

describe("a reservation", () => {
  it("takes the one that has waited longest of those that are idle, and says what it takes", async () => {
    const { got, looks } = await startPollers(BUSY, { ...IDLE, limit: 3 }, IDLE);
    const reservation = queue.reserve();
    expect(reservation).toMatchObject({ leaseId: expect.stringMatching(/^[a-z0-9]{15}$/) });
    expect(reservation?.limit).toBe(3);
    reservation?.give(["a", "b"]);
    await settle();
    expect(got()).toEqual([[], [["a", "b"]], []]);
    expect(looks()).toEqual([1, 0, 0]);
  });

  it("is not made of one that is busy, nor of one that is reserved", async () => {
    expect(queue.reserve()).toBeUndefined();
    await startPollers(BUSY);
    expect(queue.reserve()).toBeUndefined();
    await startPollers(IDLE);
    expect(queue.reserve()).toBeDefined();
    expect(queue.reserve()).toBeUndefined();
  });

  it("lets it wait on when there is nothing to give", async () => {
    const { pollers, got, looks } = await startPollers(IDLE);
    queue.reserve()?.give([]);
    await settle();
    expect([got(), looks()]).toEqual([[[]], [1]]);
    queue.reserve()?.give(["a"]);
    await settle();
    expect(got()).toEqual([[["a"]]]);
    expect(pollers[0]?.look).toHaveBeenCalledTimes(1);
  });

  it("lets it look when something else was committed meanwhile", async () => {
    const { pollers, got } = await startPollers(IDLE);
    pollers[0]?.look.mockResolvedValue(found("other"));
    const reservation = queue.reserve();
    queue.notify();
    await settle();
    expect(got()).toEqual([[]]);
    reservation?.give([]);
    await settle();
    expect(got()).toEqual([[["other"]]]);
  });

  it("ends with the wait of its poller, however long the commit takes, and says that nobody heard", async () => {
    const { pollers, got } = await startPollers(IDLE);
    const reservation = queue.reserve();
    pollers[0]?.leave();
    await settle();
    expect(got()).toEqual([[[]]]);
    expect(reservation?.give(["a"])).toBe(false);
  });

  it("ends when the sweep of its poller is due, which looks then", async () => {
    const { looks } = await startPollers(IDLE);
    const reservation = queue.reserve();
    await vi.advanceTimersByTimeAsync(SWEEP_MS);
    expect(looks()).toEqual([2]);
    expect(reservation?.give(["a"])).toBe(false);
  });
});

describe("the end of a wait", () => {
  it("returns nothing, and what is committed then goes to another", async () => {
    const { pollers, got, looks } = await startPollers(IDLE, IDLE);
    pollers[0]?.leave();
    await settle();
    expect(got()).toEqual([[[]], []]);
    pollers[1]?.look.mockResolvedValue(found("a"));
    queue.notify();
    await settle();
    expect([got(), looks()]).toEqual([
      [[[]], [["a"]]],
      [1, 1],
    ]);
  });

  it("that was over before it began looks for nothing", async () => {
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

describe("who writes waits until deliveries have caught up, ADR 0031", () => {
  const MOST_MS = 250;
  async function startWaiting() {
    let isOver = false;
    void queue.caughtUp(MOST_MS).then(() => {
      isOver = true;
    });
    await settle();
    return () => isOver;
  }

  it("not at all while nobody claims, or while a poller waits for more", async () => {
    expect((await startWaiting())()).toBe(true);
    await startPollers(BUSY);
    await vi.advanceTimersByTimeAsync(2_000);
    expect((await startWaiting())()).toBe(true);
  });

  it("until a poller that had taken something has taken all that there is", async () => {
    const { pollers } = await startPollers(BUSY);
    pollers[0]?.look.mockResolvedValueOnce(found("a"));
    queue.notify();
    await settle();
    const isOver = await startWaiting();
    pollers[0]?.look.mockResolvedValueOnce(found("b"));
    queue.notify();
    void pollers[0]?.start();
    await settle();
    expect(isOver()).toBe(false);
    void pollers[0]?.start();
    await settle();
    expect(isOver()).toBe(true);
  });

  it("for a quarter of a second at most, and not again when the poller stays away", async () => {
    const { pollers } = await startPollers(BUSY);
    pollers[0]?.look.mockResolvedValueOnce(found("a"));
    queue.notify();
    await settle();
    const isOver = await startWaiting();
    await vi.advanceTimersByTimeAsync(MOST_MS - 1);
    expect(isOver()).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isOver()).toBe(true);
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await startWaiting())()).toBe(true);
  });
});
