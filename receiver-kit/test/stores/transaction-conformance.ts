import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import type { Freshness, OnceOutcome, OnceStore } from "../../src/once/once-store.ts";
import { killOwnerMidWork } from "./kill-owner.ts";
import type { ClientName } from "./kinds.ts";
import type { OpenStore, Subject } from "./store-kind.ts";

/** Tests the guarantees of a store whose mark is part of the receiver's transaction. */
export function describeTransactions(
  client: ClientName,
  store: () => OpenStore,
  subject: Subject,
): void {
  const transactional = () => store().createTransactionStore?.() as OnceStore<unknown>;
  const leaveTrace = (context: unknown, eventId: string) =>
    store().leaveTrace?.(context, eventId) ?? Promise.reject(new Error("no transactions"));
  const countTraces = (eventId: string) => store().countTraces?.(eventId);

  it("commits the work and the mark together, once for fifty concurrent deliveries", async () => {
    const eventId = randomUUID();
    const racers = Array.from({ length: 50 }, () =>
      transactional().runOnce(eventId, (context) => leaveTrace(context, eventId)),
    );
    const outcomes = await Promise.all(racers);
    expect(outcomes.filter((outcome) => outcome === "handled")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "seen_before")).toHaveLength(49);
    expect(await countTraces(eventId)).toBe(1);
  });

  it("handles fifty different events at once", async () => {
    const eventIds = Array.from({ length: 50 }, () => randomUUID());
    const outcomes = await Promise.all(
      eventIds.map((eventId) =>
        transactional().runOnce(eventId, (context) => leaveTrace(context, eventId)),
      ),
    );
    expect(outcomes).toEqual(Array(50).fill("handled"));
  });

  it("rolls back the work and the mark together", async () => {
    const eventId = randomUUID();
    const failure = new Error("the work failed");
    const failing = transactional().runOnce(eventId, async (context) => {
      await leaveTrace(context, eventId);
      throw failure;
    });
    await expect(failing).rejects.toBe(failure);
    expect(await countTraces(eventId)).toBe(0);
    const again = await transactional().runOnce(eventId, (context) => leaveTrace(context, eventId));
    expect(again).toBe("handled");
    expect(await countTraces(eventId)).toBe(1);
  });

  it("commits a record's newest time with the work, and rolls it back if the work fails", async () => {
    const record = `record ${randomUUID()}`;
    const stale: boolean[] = [];
    const come = (time: string, fails = false) =>
      transactional().runOnce(
        randomUUID(),
        async (context) => {
          if (fails) throw new Error("the work failed");
          stale.push((context as Freshness).stale);
        },
        { record, time },
      );
    await expect(come("2026-01-01T00:00:03Z", true)).rejects.toThrow("the work failed");
    await come("2026-01-01T00:00:02Z");
    await come("2026-01-01T00:00:01Z");
    await come("2026-01-01T00:00:03Z");
    expect(stale).toEqual([false, true, false]);
  });

  it("lets one waiting delivery do the work when the first fails, without an error", async () => {
    const eventId = randomUUID();
    const others: Promise<OnceOutcome>[] = [];
    const first = transactional().runOnce(eventId, async () => {
      for (let other = 0; other < 15; other++) {
        others.push(transactional().runOnce(eventId, (context) => leaveTrace(context, eventId)));
      }
      await new Promise((resolve) => setTimeout(resolve, 500)); // By then, the others wait for the first.
      throw new Error("the work failed");
    });
    await expect(first).rejects.toThrow("the work failed");
    const outcomes = await Promise.all(others);
    expect(outcomes.filter((outcome) => outcome === "handled")).toHaveLength(1);
    expect(outcomes).not.toContain("claim_lost");
    expect(await countTraces(eventId)).toBe(1);
  });

  it("respects a claim that a lease store holds", async () => {
    const eventId = randomUUID();
    await store().claims.claim(eventId, "owner", 60_000);
    const work = () => Promise.reject(new Error("it ran"));
    expect(await transactional().runOnce(eventId, work)).toBe("in_progress");
  });

  it("keeps nothing of an owner that is killed with -9 within its transaction", async () => {
    const eventId = randomUUID();
    await killOwnerMidWork(client, subject.url() ?? "", eventId, "transaction");
    expect(await countTraces(eventId)).toBe(0);
    const outcome = await transactional().runOnce(eventId, (context) =>
      leaveTrace(context, eventId),
    );
    expect(outcome).toBe("handled");
    expect(await countTraces(eventId)).toBe(1);
  });
}
