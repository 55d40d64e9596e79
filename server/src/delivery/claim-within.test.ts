import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import { claimWithin } from "./claim-within.ts";
import { createOutboxSignal } from "./outbox-signal.ts";

const LIMIT = 2;
/** A sweep that would come to the rescue comes long after the test. */
const WAIT_MS = 60_000;

/** An outbox of this process, and claims that wait for it as the lanes of relays do. */
function startOutbox() {
  const waiting: number[] = [];
  const outbox = createOutboxSignal();
  const room = createOutboxSignal();
  let looks = 0;
  let fails = false;
  const gone = new AbortController();

  async function look() {
    looks += 1;
    const isFailing = fails;
    fails = false;
    const found = isFailing ? [] : waiting.splice(0, LIMIT);
    await wait(10); // What is committed meanwhile is not among them.
    if (isFailing) throw new Error("a lock was waited for in vain");
    const entries = found.map((deliveryNo) => ({
      ...{ deliveryNo, deliveryId: `delivery-${deliveryNo}`, sequence: 1 },
      goOnFrom: undefined,
    }));
    return { entries, isHeldBack: false };
  }

  return {
    looks: () => looks,
    commit(...deliveryNos: number[]) {
      waiting.push(...deliveryNos);
      outbox.notify();
    },
    leave: () => gone.abort(),
    failNext() {
      fails = true;
    },
    async claim(caller = new AbortController().signal) {
      const size = { limit: LIMIT, waitMs: WAIT_MS };
      const entries = await claimWithin(look, size, { outbox, room }, caller);
      return entries.map(({ deliveryNo }) => deliveryNo);
    },
    gone: gone.signal,
  };
}
type Outbox = ReturnType<typeof startOutbox>;

const untilLooked = (outbox: Outbox, looks: number) => expect.poll(outbox.looks).toBe(looks);
/** Long enough for a look to have ended in vain. */
const untilWaiting = () => wait(50);

it("wakes one claim a commit, in the order in which they wait", async () => {
  const outbox = startOutbox();
  const first = outbox.claim();
  const second = outbox.claim();
  await untilWaiting();
  outbox.commit(1);
  expect(await first).toEqual([1]);
  await untilWaiting();
  expect(outbox.looks()).toBe(3);
  outbox.commit(2);
  expect(await second).toEqual([2]);
});

it("wakes the next one when a claim is full: there may be more", async () => {
  const outbox = startOutbox();
  const claims = [outbox.claim(), outbox.claim()];
  await untilWaiting();
  outbox.commit(1, 2, 3);
  expect(await Promise.all(claims)).toEqual([[1, 2], [3]]);
});

it("wakes the next one for what was committed while a claim looked", async () => {
  const outbox = startOutbox();
  outbox.commit(1);
  const first = outbox.claim();
  const second = outbox.claim();
  await untilLooked(outbox, 2);
  outbox.commit(2);
  expect([await first, await second]).toEqual([[1], [2]]);
});

it("wakes the next one when whom a commit woke is gone", async () => {
  const outbox = startOutbox();
  const left = outbox.claim(outbox.gone);
  const staying = outbox.claim();
  await untilWaiting();
  outbox.commit(1);
  outbox.leave();
  const claimed = [await left, await staying];
  expect(claimed.flat()).toEqual([1]);
});

it("wakes the next one for what was committed before a claim failed", async () => {
  const outbox = startOutbox();
  outbox.failNext();
  const failing = expect(outbox.claim()).rejects.toThrow("in vain");
  const second = outbox.claim();
  await untilLooked(outbox, 2);
  outbox.commit(1);
  await failing;
  expect(await second).toEqual([1]);
});
