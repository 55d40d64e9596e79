import { AttemptOutcome } from "@activity/proto";
import { describe, expect, it } from "vitest";
import { Task } from "../../../server/src/dispatch/outbox-store.ts";
import type { RunKey } from "../../../server/src/dispatch/run-key.ts";
import {
  createReceiver,
  DELIVERED,
  MINUTE_MICROS,
  made,
  type Receiver,
  recordOf,
  type Subject,
} from "./subject.ts";

/** As many as are ever resumed at once. */
const LIMIT = 200;
const [PENDING, RETRYING_STATE, DELIVERED_STATE, CANCELED, PAUSED, ERASED] = [1, 2, 3, 5, 6, 7];

/** What records, workflows and owners change in a store. */
export function exerciseChanges(subject: () => Subject): void {
  async function start(count = 1): Promise<{ receiver: Receiver; run: RunKey; runs: RunKey[] }> {
    const receiver = await createReceiver(subject());
    const runs = await receiver.donate(count);
    const [run] = runs;
    if (run === undefined) throw new Error("nothing was written");
    return { receiver, run, runs };
  }
  const read = ({ deliveryId }: RunKey) => subject().read(deliveryId);

  describe("a record", () => {
    it("stores an attempt once, and what it made of its delivery", async () => {
      const { receiver, run } = await start();
      await receiver.fail(run);
      const { store } = subject();
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
      // A success replaces the failure, and nothing replaces it.
      const delivered = {
        ...made(run, 1, 200),
        startedAt: 9_000,
        outcome: AttemptOutcome.DELIVERED,
      };
      await store.change({ attempts: [delivered] });
      await store.change({ attempts: [made(run, 1, 200)] });
      const [first] = await store.listAttemptsOfRuns([run]);
      expect(first).toEqual({ ...past(9_005), outcome: AttemptOutcome.DELIVERED });
    });

    it("turns the entry of a first attempt into one for its workflow, of that run only", async () => {
      const { receiver, run } = await start();
      const { store } = subject();
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
      // It is for its workflow already: its lease is left.
      await store.change({ retried: [run] });
      expect(await receiver.claimable(Task.BeginRetries)).toEqual([]);
    });

    it("takes a run out of the outbox, and leaves a later one", async () => {
      const { receiver, run } = await start();
      const { store } = subject();
      await store.change({ deleted: [{ ...run, run: 2 }] });
      expect(await receiver.claimable()).toEqual([run.deliveryId]);
      await store.change({ deleted: [run], outcomes: [{ keys: [run], after: DELIVERED }] });
      expect(await receiver.claimable()).toEqual([]);
      expect(await read(run)).toMatchObject({ state: DELIVERED_STATE, dueInMs: undefined });
    });

    it("changes nothing, and locks nothing, when its decision fails", async () => {
      const { run, receiver } = await start();
      const { store } = subject();
      const failing = store.changeFree([run], () => {
        throw new Error("undecided");
      });
      await expect(failing).rejects.toThrow("undecided");
      const free = await store.changeFree([run], (found) => ({ changes: {}, result: found }));
      const { endpointId } = receiver;
      expect(free).toEqual([{ ...run, endpointId, state: PENDING, attempts: 0 }]);
    });

    it("leaves out what somebody else has locked, which is there", async () => {
      const { run, runs } = await start(2);
      const { store } = subject();
      const gone = { ...run, deliveryId: "nothing00000000" };
      const free = () =>
        store.changeFree([...runs, gone], (found) => ({ changes: {}, result: found }));
      const beside = await subject().whileLocked(run.deliveryId, free);
      expect(beside.map(({ deliveryId }) => deliveryId)).toEqual([runs[1]?.deliveryId]);
      const present = await subject().whileLocked(run.deliveryId, () =>
        store.listPresent([...runs, gone]),
      );
      expect(present.map(({ deliveryId }) => deliveryId).sort()).toEqual(
        runs.map(({ deliveryId }) => deliveryId).sort(),
      );
    });
  });

  describe("a workflow's attempt", () => {
    it("is found with what is known of it", async () => {
      const { receiver, run } = await start();
      const { store } = subject();
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

    it("is rescheduled unless it is recorded, or its run has ended", async () => {
      const { receiver, run } = await start();
      const { store } = subject();
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
  });

  it("cancels what runs, of that run, and leaves what has ended", async () => {
    const { receiver, run } = await start();
    const { store } = subject();
    await store.change({ canceled: [{ ...run, run: 2 }] });
    expect(await read(run)).toMatchObject({ state: PENDING });
    await receiver.fail(run);
    await store.change({ canceled: [run] });
    expect(await read(run)).toMatchObject({ state: CANCELED, dueInMs: undefined });
    await store.change({ outcomes: [{ keys: [run], after: DELIVERED }] });
    await store.change({ canceled: [run] });
    expect(await read(run)).toMatchObject({ state: DELIVERED_STATE });
  });

  it("resumes what is overdue for longest, of what nobody writes, and makes it due", async () => {
    const { receiver, run, runs } = await start(3);
    const { store } = subject();
    for (const each of runs) {
      await receiver.fail(each);
      await subject().pass(1_000);
    }
    await store.change({ deleted: runs });
    const minute = MINUTE_MICROS;
    expect(await store.resumeOverdue(minute, LIMIT)).toBe(0);
    await subject().pass(10 * 60_000);
    const [, second, third] = runs;
    expect(await subject().whileLocked(run.deliveryId, () => store.resumeOverdue(minute, 1))).toBe(
      1,
    );
    expect(await receiver.claimable(Task.BeginRetries)).toEqual([second?.deliveryId]);
    expect(await store.resumeOverdue(minute, LIMIT)).toBe(2);
    expect(await store.resumeOverdue(minute, LIMIT)).toBe(0);
    const all = [run, second, third].map((each) => each?.deliveryId);
    expect(await receiver.claimable(Task.BeginRetries)).toEqual(all);
    expect(Math.abs((await read(run)).dueInMs ?? Infinity)).toBeLessThan(10_000);
  });

  it("has Temporal asked of all that goes on in a restored database, and of nothing else", async () => {
    const { receiver, run, runs } = await start(3);
    const { store } = subject();
    const [, waiting, leased] = runs;
    if (!waiting || !leased) throw new Error("nothing was written");
    await store.change({ deleted: [run], outcomes: [{ keys: [run], after: DELIVERED }] });
    await receiver.fail(waiting);
    await store.change({ deleted: [waiting] });
    await store.leaseEntries(Task.Attempt, [leased], "of its maker 00");
    await subject().restored();
    expect(await receiver.claimable()).toEqual([]);
    const asked = [waiting, leased].map(({ deliveryId }) => deliveryId);
    expect((await receiver.claimable(Task.BeginRetries)).sort()).toEqual(asked.sort());
    expect(await read(run)).toMatchObject({ state: DELIVERED_STATE, dueInMs: undefined });
    expect((await read(waiting)).dueInMs).toBeGreaterThan(50_000);
    expect(await read(leased)).toMatchObject({ state: RETRYING_STATE, attempts: 0 });
    expect(Math.abs((await read(leased)).dueInMs ?? Infinity)).toBeLessThan(10_000);
  });

  describe("an owner", () => {
    it("begins the next run in place of what is left of the one before", async () => {
      const { receiver, run } = await start();
      const { store } = subject();
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
      await receiver.owner.retryAll([run.deliveryId]);
      expect(await read(run)).toMatchObject({ state: PENDING, run: 3 });
    });

    it("is told later of what is written while the endpoint is off or the account blocked", async () => {
      const { receiver } = await start();
      const { owner, endpointId } = receiver;
      await owner.switchOff(endpointId);
      const [off] = await receiver.donate();
      await owner.switchOn(endpointId);
      await owner.block();
      const [blocked] = await receiver.donate();
      for (const run of [off, blocked]) {
        expect(run && (await read(run))).toMatchObject({ state: PAUSED });
        expect(await receiver.claimable()).not.toContain(run?.deliveryId);
      }
    });

    it("erases what is not delivered, with its bytes and entries", async () => {
      const { receiver, runs } = await start(3);
      const [one, two, three] = runs;
      if (!one || !two || !three) throw new Error("nothing was written");
      const { store } = subject();
      await store.change({ outcomes: [{ keys: [two], after: DELIVERED }] });
      await receiver.fail(one);
      for (const number of [1, 2]) await receiver.owner.erase(recordOf(number));
      expect(await read(one)).toMatchObject({ state: ERASED, dueInMs: undefined });
      expect(await read(two)).toMatchObject({ state: DELIVERED_STATE });
      expect([await receiver.content(one), await receiver.content(two)]).toEqual([
        undefined,
        undefined,
      ]);
      expect(await receiver.claimable(Task.BeginRetries)).toEqual([]);
      expect(await receiver.claimable()).toEqual([three.deliveryId]);
      expect(await receiver.content(three)).toBeDefined();
    });
  });

  it("waits for who has locked a delivery before it cancels, erases or reschedules", async () => {
    const { receiver, run } = await start();
    await receiver.fail(run);
    const { store } = subject();
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
}
