import { setImmediate as nextTurn } from "node:timers/promises";
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
  let ended = 0;
  let fails = false;
  const gone = new AbortController();

  async function look() {
    looks += 1;
    const isFailing = fails;
    fails = false;
    const found = isFailing ? [] : waiting.splice(0, LIMIT);
    await nextTurn(); // What is committed meanwhile is not among them.
    ended += 1;
    if (isFailing) throw new Error("a lock was waited for in vain");
    const entries = found.map((deliveryNo) => ({
      ...{ deliveryNo, deliveryId: `delivery-${deliveryNo}`, sequence: 1 },
      goOnFrom: undefined,
    }));
    return { entries, isHeldBack: false };
  }

  return {
    looks: () => looks,
    /** How many looks have ended: one in vain leaves a claim that waits. */
    ended: () => ended,
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

const untilEnded = (outbox: Outbox, looks: number) => expect.poll(outbox.ended).toBe(looks);

it("wakes one claim a commit, in the order in which they wait", async () => {
  const outbox = startOutbox();
  const first = outbox.claim();
  const second = outbox.claim();
  await untilEnded(outbox, 2);
  outbox.commit(1);
  expect(await first).toEqual([1]);
  await nextTurn();
  expect(outbox.looks()).toBe(3);
  outbox.commit(2);
  expect(await second).toEqual([2]);
});

it("wakes the next one when a claim is full: there may be more", async () => {
  const outbox = startOutbox();
  const claims = [outbox.claim(), outbox.claim()];
  await untilEnded(outbox, 2);
  outbox.commit(1, 2, 3);
  expect(await Promise.all(claims)).toEqual([[1, 2], [3]]);
});

it("wakes the next one for what was committed while a claim looked", async () => {
  const outbox = startOutbox();
  outbox.commit(1);
  const first = outbox.claim();
  const second = outbox.claim();
  expect([outbox.looks(), outbox.ended()]).toEqual([2, 0]);
  outbox.commit(2);
  expect([await first, await second]).toEqual([[1], [2]]);
});

it("wakes the next one when whom a commit woke is gone", async () => {
  const outbox = startOutbox();
  const left = outbox.claim(outbox.gone);
  const staying = outbox.claim();
  await untilEnded(outbox, 2);
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
  expect([outbox.looks(), outbox.ended()]).toEqual([2, 0]);
  outbox.commit(1);
  await failing;
  expect(await second).toEqual([1]);
});
