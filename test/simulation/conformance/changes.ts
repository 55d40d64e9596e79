import { AttemptOutcome } from "@activity/proto";
import { describe, expect, it } from "vitest";
import { Task } from "../../../server/src/dispatch/outbox-store.ts";
import type { RunKey } from "../../../server/src/dispatch/run-key.ts";
import {
  createReceiver,
  DELIVERED,
  idsOf,
  MINUTE_MICROS,
  made,
  recordOf,
  type Subject,
} from "./subject.ts";

/** How many runs one call resumes: at least as many as the product does. */
const LIMIT = 200;
const [PENDING, RETRYING_STATE, DELIVERED_STATE, CANCELED, PAUSED, ERASED] = [1, 2, 3, 5, 6, 7];

/** Tests the store's functions for records, workflows and owners. */
export function exerciseChanges(subject: () => Subject): void {
  async function start(count: 1 | 2 | 3 = 1) {
    const receiver = await createReceiver(subject());
    const runs = await receiver.donate(count);
    return { receiver, store: receiver.store, run: runs[0], runs };
  }
  const read = ({ deliveryId }: RunKey) => subject().read(deliveryId);

  describe("a record", () => {
    it("stores an attempt once, and its effect on the delivery", async () => {
      const { receiver, store, run } = await start();
      await receiver.fail(run);
      await store.change({ attempts: [made(run, 1, 200)] });
      expect(await read(run)).toMatchObject({ state: RETRYING_STATE, attempts: 1, lastOutcome: 8 });
      expect((await read(run)).dueInMs).toBeGreaterThan(50_000);
      expect((await read(run)).dueInMs).toBeLessThanOrEqual(60_000);
      await store.change({ attempts: [made(run, 3), made(run, 2)] });
      const { deliveryId, accountNo } = run;
      const past = (endedAt: number) => ({ accountNo, deliveryId, outcome: 8, endedAt });
      const all = [past(1_005), past(2_005), past(3_005)];
      expect(await store.listAttemptsOfRuns([run])).toEqual(all);
      expect(await store.listAttemptsOfRuns([{ ...run, run: 2 }])).toEqual([]);
      // A success replaces the failure, and no other attempt replaces the success.
      const outcome = AttemptOutcome.DELIVERED;
      await store.change({ attempts: [{ ...made(run, 1, 200), startedAt: 9_000, outcome }] });
      await store.change({ attempts: [made(run, 1, 200)] });
      const [first] = await store.listAttemptsOfRuns([run]);
      expect(first).toEqual({ ...past(9_005), outcome });
    });

    it("turns the entry of a first attempt into one for its workflow, of the same run only", async () => {
      const { receiver, store, run } = await start();
      await store.change({ retried: [{ ...run, run: 2 }] });
      expect(await receiver.claimable()).toEqual([run.deliveryId]);
      await store.leaseEntries(Task.Attempt, [run], "of its maker 00");
      await receiver.fail(run);
      expect(await receiver.claimable()).toEqual([]);
      expect(await receiver.claimable(Task.BeginRetries)).toEqual([run.deliveryId]);
      await store.leaseEntries(Task.BeginRetries, [run], "of its workflow");
      const [retry] = await store.loadLeasedRetries([run], "of its workflow");
      expect(retry).toMatchObject({ ...run, isRunning: true });
      expect(retry?.dueInMicros).toBeGreaterThan(MINUTE_MICROS - 10_000_000);
      // An entry for a workflow keeps its lease.
      await store.change({ retried: [run] });
      expect(await receiver.claimable(Task.BeginRetries)).toEqual([]);
    });

    it("removes a run from the outbox, but no later run", async () => {
      const { receiver, store, run } = await start();
      await store.change({ deleted: [{ ...run, run: 2 }] });
      expect(await receiver.claimable()).toEqual([run.deliveryId]);
      await store.change({ deleted: [run], outcomes: [{ keys: [run], after: DELIVERED }] });
      expect(await receiver.claimable()).toEqual([]);
      expect(await read(run)).toMatchObject({ state: DELIVERED_STATE, dueInMs: undefined });
    });

    it("changes and locks nothing when its decision fails", async () => {
      const { receiver, store, run } = await start();
      const failing = store.changeFree([run], () => {
        throw new Error("undecided");
      });
      await expect(failing).rejects.toThrow("undecided");
      const free = await store.changeFree([run], (found) => ({ changes: {}, result: found }));
      const { endpointId } = receiver;
      expect(free).toEqual([{ ...run, endpointId, state: PENDING, attempts: 0 }]);
    });

    it("skips deliveries that another transaction has locked, and lists them as present", async () => {
      const { store, run, runs } = await start(2);
      const keys = [...runs, { ...run, deliveryId: "nothing00000000" }];
      const { free, present } = await subject().whileLocked(run.deliveryId, async () => ({
        free: await store.changeFree(keys, (found) => ({ changes: {}, result: found })),
        present: await store.listPresent(keys),
      }));
      expect(idsOf(free)).toEqual(idsOf(runs).slice(1));
      expect(idsOf(present).sort()).toEqual(idsOf(runs).sort());
    });
  });

  describe("a workflow's attempt", () => {
    it("is found with its run, its record and its due time", async () => {
      const { receiver, store, run } = await start();
      const first = await store.findAttempt(run, 1);
      expect(first).toMatchObject({ isRunning: true, isAhead: false, recorded: undefined });
      expect(first?.retryInMicros).toBeUndefined();
      await receiver.fail(run);
      const recorded = await store.findAttempt(run, 1);
      expect(recorded).toMatchObject({ isRunning: true, recorded: { outcome: 8, endedAt: 1_005 } });
      expect(recorded?.retryInMicros).toBeGreaterThan(MINUTE_MICROS - 10_000_000);
      const later = await store.findAttempt({ ...run, run: 2 }, 1);
      expect(later).toMatchObject({ isRunning: false, isAhead: true, recorded: undefined });
      expect(await store.findAttempt({ ...run, deliveryId: "nothing00000000" }, 1)).toBeUndefined();
      expect(await store.isAccountDeleted(run.accountNo)).toBe(false);
    });

    it("is rescheduled unless it is recorded or its run has ended", async () => {
      const { receiver, store, run } = await start();
      await receiver.fail(run);
      const due = async () => Math.round(((await read(run)).dueInMs ?? 0) / 60_000);
      await store.rescheduleAttempt(run, 1, 10 * MINUTE_MICROS);
      expect(await due()).toBe(1);
      await store.rescheduleAttempt({ ...run, run: 2 }, 2, 10 * MINUTE_MICROS);
      expect(await due()).toBe(1);
      await store.rescheduleAttempt(run, 2, 10 * MINUTE_MICROS);
      expect(await due()).toBe(10);
      await store.change({ canceled: [run] });
      await store.rescheduleAttempt(run, 2, 10 * MINUTE_MICROS);
      expect(await read(run)).toMatchObject({ state: CANCELED, dueInMs: undefined });
    });

    it("is rescheduled only after another transaction has unlocked its delivery", async () => {
      const { receiver, store, run } = await start();
      await receiver.fail(run);
      let isDone = false;
      const { waiting } = await subject().whileLocked(run.deliveryId, async () => {
        const done = store.rescheduleAttempt(run, 2, 10 * MINUTE_MICROS).then(() => {
          isDone = true;
        });
        await new Promise((resolve) => setTimeout(resolve, 100));
        expect(isDone).toBe(false);
        return { waiting: done };
      });
      await waiting;
      expect((await read(run)).dueInMs).toBeGreaterThan(5 * 60_000);
    });
  });

  it("cancels a running run, but neither another run nor an ended one", async () => {
    const { receiver, store, run } = await start();
    await store.change({ canceled: [{ ...run, run: 2 }] });
    expect(await read(run)).toMatchObject({ state: PENDING });
    await receiver.fail(run);
    await store.change({ canceled: [run] });
    expect(await read(run)).toMatchObject({ state: CANCELED, dueInMs: undefined });
    await store.change({ outcomes: [{ keys: [run], after: DELIVERED }] });
    await store.change({ canceled: [run] });
    expect(await read(run)).toMatchObject({ state: DELIVERED_STATE });
  });

  it("resumes the runs that are overdue, the longest first, skips locked ones, and makes them due", async () => {
    const { receiver, store, run, runs } = await start(3);
    for (const each of runs) {
      await receiver.fail(each);
      await subject().pass(1_000);
    }
    await store.change({ deleted: runs });
    const resume = (limit: number) => store.resumeOverdue(MINUTE_MICROS, limit);
    expect(await resume(LIMIT)).toBe(0);
    await subject().pass(10 * 60_000);
    expect(await subject().whileLocked(run.deliveryId, () => resume(1))).toBe(1);
    expect(await receiver.claimable(Task.BeginRetries)).toEqual(idsOf(runs).slice(1, 2));
    expect(await resume(LIMIT)).toBe(2);
    expect(await resume(LIMIT)).toBe(0);
    expect(await receiver.claimable(Task.BeginRetries)).toEqual(idsOf(runs));
    expect(Math.abs((await read(run)).dueInMs ?? Infinity)).toBeLessThan(10_000);
  });

  it("makes an entry for the workflow of each running run after a restore, and of no other", async () => {
    const receiver = await createReceiver(subject());
    const { store } = receiver;
    const [run, waiting, leased] = await receiver.donate(3);
    await store.change({ deleted: [run], outcomes: [{ keys: [run], after: DELIVERED }] });
    await receiver.fail(waiting);
    await store.change({ deleted: [waiting] });
    await store.leaseEntries(Task.Attempt, [leased], "of its maker 00");
    await subject().restored();
    expect(await receiver.claimable()).toEqual([]);
    const asked = await receiver.claimable(Task.BeginRetries);
    expect(asked.sort()).toEqual(idsOf([waiting, leased]).sort());
    expect(await read(run)).toMatchObject({ state: DELIVERED_STATE, dueInMs: undefined });
    expect((await read(waiting)).dueInMs).toBeGreaterThan(50_000);
    expect(await read(leased)).toMatchObject({ state: RETRYING_STATE, attempts: 0 });
    expect(Math.abs((await read(leased)).dueInMs ?? Infinity)).toBeLessThan(10_000);
  });

  describe("an owner", () => {
    it("begins the next run, which replaces the entry of the run before", async () => {
      const { receiver, store, run } = await start();
      await receiver.fail(run);
      await store.change({ canceled: [run] });
      await receiver.owner.retry(run.deliveryId);
      const fresh = { state: PENDING, run: 2, attempts: 0, lastOutcome: undefined };
      expect(await read(run)).toMatchObject({ ...fresh, dueInMs: undefined });
      expect(await receiver.claimable()).toEqual([run.deliveryId]);
      await store.change({ deleted: [run], canceled: [run], retried: [run] });
      expect(await receiver.claimable()).toEqual([run.deliveryId]);
      expect(await store.findAttempt(run, 1)).toMatchObject({ isRunning: false });
      await store.change({ canceled: [{ ...run, run: 2 }] });
      await receiver.owner.retry(run.deliveryId);
      expect(await read(run)).toMatchObject({ state: PENDING, run: 3 });
    });

    it("begins one run with several retries at the same time", async () => {
      const { receiver, store, run } = await start();
      const retry = () => receiver.owner.retry(run.deliveryId);
      // In the first round the connections open one after the other, so only later rounds call at the same time.
      for (const next of [2, 3, 4]) {
        await store.change({ canceled: [{ ...run, run: next - 1 }] });
        await Promise.all(Array.from({ length: 8 }, retry));
        expect(await read(run)).toMatchObject({ state: PENDING, run: next });
      }
    });

    it("begins each delivery that has ended with a bulk retry, part by part", async () => {
      const receiver = await createReceiver(subject());
      const runs = await receiver.donate(4);
      const [delivered, ...ended] = runs;
      const after = { outcomes: [{ keys: [delivered], after: DELIVERED }] };
      await receiver.store.change({ canceled: ended, ...after, deleted: runs });
      const first = await receiver.owner.retryPart("");
      expect(first).not.toBe("");
      expect(await receiver.owner.retryPart(first)).toBe("");
      expect(await receiver.claimable()).toEqual(idsOf(ended));
      for (const run of ended) expect(await read(run)).toMatchObject({ state: PENDING, run: 2 });
      expect(await read(delivered)).toMatchObject({ run: 1 });
    });

    it("gets paused deliveries while the endpoint is off or the account is blocked", async () => {
      const { receiver } = await start();
      const { owner, endpointId } = receiver;
      await owner.switchOff(endpointId);
      const [off] = await receiver.donate();
      await owner.switchOn(endpointId);
      await owner.block();
      const [blocked] = await receiver.donate();
      for (const run of [off, blocked]) {
        expect(await read(run)).toMatchObject({ state: PAUSED });
        expect(await receiver.claimable()).not.toContain(run.deliveryId);
      }
    });

    it("erases events, with the entries of deliveries that are not delivered", async () => {
      const receiver = await createReceiver(subject());
      const [one, two, three] = await receiver.donate(3);
      await receiver.store.change({ outcomes: [{ keys: [two], after: DELIVERED }] });
      await receiver.fail(one);
      for (const number of [1, 2]) await receiver.owner.erase(recordOf(number));
      expect(await read(one)).toMatchObject({ state: ERASED, dueInMs: undefined });
      expect(await read(two)).toMatchObject({ state: DELIVERED_STATE });
      expect(await receiver.content(one)).toBeUndefined();
      expect(await receiver.content(two)).toBeUndefined();
      expect(await receiver.claimable(Task.BeginRetries)).toEqual([]);
      expect(await receiver.claimable()).toEqual([three.deliveryId]);
      expect(await receiver.content(three)).toBeDefined();
    });
  });
}
