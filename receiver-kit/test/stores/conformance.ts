import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Claims } from "../../src/once/claims.ts";
import { createLeaseStore } from "../../src/once/lease-store.ts";
import type { Freshness, OnceOutcome } from "../../src/once/once-store.ts";
import { killOwnerMidWork } from "./kill-owner.ts";
import type { ClientName } from "./kinds.ts";
import type { OpenStore, Subject } from "./store-kind.ts";
import { describeTransactions } from "./transaction-conformance.ts";

const LONG_MS = 60_000;
/** The lease of a claim. It is much longer than a busy machine takes between two checks. */
const LEASE_SECONDS = 3;
const LEASE_ENDS_WITHIN_MS = 15_000;

/** Tests the guarantees of every store. */
export function describeStore(client: ClientName | "memory", subject: Subject): void {
  const isSql = client !== "memory" && client !== "ioredis" && client !== "redis";
  describe(`the store over ${client}`, () => {
    let store: OpenStore;
    beforeAll(async () => {
      store = await subject.open();
    });
    afterAll(() => store.close());

    it("runs the work of one of fifty concurrent deliveries, and returns other outcomes to the rest", async () => {
      const once = store.createStore();
      const eventId = randomUUID();
      const work = vi.fn(() => new Promise<void>((resolve) => setTimeout(resolve, 50)));
      const racers = Array.from({ length: 50 }, () => once.runOnce(eventId, work));
      const outcomes = await Promise.all(racers);
      expect(work).toHaveBeenCalledTimes(1);
      const count = (wanted: OnceOutcome) =>
        outcomes.filter((outcome) => outcome === wanted).length;
      expect(count("handled")).toBe(1);
      expect(count("in_progress") + count("seen_before")).toBe(49);
      expect(await once.runOnce(eventId, work)).toBe("seen_before");
    });

    it("cannot be created to keep ids or claims for no time, or longer than databases and timers can", () => {
      const refused = [{ keepSeconds: 0 }, { keepSeconds: Number.MAX_SAFE_INTEGER }];
      for (const options of [...refused, { leaseSeconds: 0 }, { leaseSeconds: 2_147_484 }]) {
        expect(() => store.createStore(options)).toThrow(RangeError);
      }
    });

    it("handles an event once if its options are no whole number of milliseconds", async () => {
      const once = store.createStore({ leaseSeconds: 100 / 3, keepSeconds: 100 / 3 });
      const eventId = randomUUID();
      const of = { record: `record ${eventId}`, time: "2026-01-01T00:00:00Z" };
      expect(await once.runOnce(eventId, async () => {}, of)).toBe("handled");
      expect(await once.runOnce(eventId, async () => {}, of)).toBe("seen_before");
    });

    it("releases the claim if the work throws, and rejects with its error", async () => {
      const once = store.createStore();
      const eventId = randomUUID();
      const failure = new Error("the work failed");
      await expect(once.runOnce(eventId, () => Promise.reject(failure))).rejects.toBe(failure);
      expect(await once.runOnce(eventId, async () => {})).toBe("handled");
    });

    it("distinguishes ids by case, by trailing space and beyond ASCII", async () => {
      const once = store.createStore();
      const eventId = randomUUID();
      for (const suffix of ["a", "A", "a ", "ä", "a\u0308", "😀".repeat(50)]) {
        expect(await once.runOnce(eventId + suffix, async () => {})).toBe("handled");
        expect(await once.runOnce(eventId + suffix, async () => {})).toBe("seen_before");
      }
    });

    // The tests that wait for leases run concurrently, so that their waits overlap.
    it.concurrent("gives a claim to the next owner after the lease, and not before", async () => {
      const eventId = randomUUID();
      expect(await store.claims.claim(eventId, "first", LEASE_SECONDS * 1000)).toBe("claimed");
      expect(await store.claims.claim(eventId, "second", LONG_MS)).toBe("held");
      await vi.waitFor(async () => {
        expect(await store.claims.claim(eventId, "second", LONG_MS)).toBe("claimed");
      }, LEASE_ENDS_WITHIN_MS);
      expect(await store.claims.renew(eventId, "first", LONG_MS)).toBe(false);
      expect(await store.claims.complete(eventId, "first", LONG_MS)).toBe(false);
      await store.claims.release(eventId, "first");
      expect(await store.claims.claim(eventId, "third", LONG_MS)).toBe("held");
      expect(await store.claims.complete(eventId, "second", LONG_MS)).toBe(true);
      expect(await store.claims.claim(eventId, "third", LONG_MS)).toBe("done");
    });

    it.concurrent("lets an owner whose lease ended mark its work done, unless another took the claim", async () => {
      const eventId = randomUUID();
      expect(await store.claims.claim(eventId, "late", 50)).toBe("claimed");
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(await store.claims.complete(eventId, "late", LONG_MS)).toBe(true);
      expect(await store.claims.claim(eventId, "next", LONG_MS)).toBe("done");
    });

    it.concurrent("renews the lease of a living owner", async () => {
      const once = store.createStore({ leaseSeconds: LEASE_SECONDS });
      const eventId = randomUUID();
      const outcomes: OnceOutcome[] = [];
      const first = await once.runOnce(eventId, async () => {
        // The last check is after a whole lease.
        for (let check = 0; check <= LEASE_SECONDS; check++) {
          await new Promise((resolve) => setTimeout(resolve, 1000));
          outcomes.push(await once.runOnce(eventId, async () => {}));
        }
      });
      expect(outcomes).toEqual(Array(LEASE_SECONDS + 1).fill("in_progress"));
      expect(first).toBe("handled");
    });

    if (client !== "memory") {
      it.concurrent("gives an event to the next owner when the first is killed with -9", async () => {
        const eventId = randomUUID();
        await killOwnerMidWork(client, subject.url() ?? "", eventId, "lease");
        const once = store.createStore();
        expect(await once.runOnce(eventId, async () => {})).toBe("in_progress");
        await vi.waitFor(async () => {
          expect(await once.runOnce(eventId, async () => {})).toBe("handled");
        }, LEASE_ENDS_WITHIN_MS);
      });
    }

    it("marks an event as stale if a newer one of its record was handled before, not one whose work failed", async () => {
      const once = store.createStore();
      const record = `record ${randomUUID()}`;
      const stale: boolean[] = [];
      const come = (time: string, fails = false) =>
        once.runOnce(
          randomUUID(),
          async (context) => {
            if (fails) throw new Error("the work failed");
            stale.push((context as Freshness).stale);
          },
          { record, time },
        );
      await come("2026-01-01T00:00:00.000002Z");
      await come("2026-01-01T00:00:00.000001Z");
      await come("2026-01-01T00:00:00.000002Z");
      await come("2026-01-01T00:00:01.000000Z", true).catch(() => undefined);
      await come("2026-01-01T00:00:00.999999Z");
      await come("2026-01-01T00:00:01.000000Z");
      await come("2026-01-01T00:00:00.999999Z");
      expect(stale).toEqual([false, true, false, false, false, true]);
      expect(await once.runOnce(record.slice("record ".length), async () => {})).toBe("handled");
    });

    it("aborts the work's signal when its claim is lost", async () => {
      const eventId = randomUUID();
      let owner = "";
      const claim: Claims["claim"] = (id, claimant, leaseMs) => {
        owner = claimant;
        return store.claims.claim(id, claimant, leaseMs);
      };
      const once = createLeaseStore({ ...store.claims, claim }, { leaseSeconds: 0.3 });
      const outcome = await once.runOnce(eventId, async ({ signal }) => {
        await store.claims.release(eventId, owner);
        await store.claims.claim(eventId, "another", LONG_MS);
        if (!signal.aborted)
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
      });
      expect(outcome).toBe("claim_lost");
    });

    it("aborts the work's signal when the lease ends while the storage is out of reach, and repeats no finished work", async () => {
      const renew = vi.fn(() => new Promise<boolean>(() => {}));
      renew.mockRejectedValueOnce(new Error("away"));
      const once = createLeaseStore({ ...store.claims, renew }, { leaseSeconds: 0.3 });
      const eventId = randomUUID();
      const outcome = await once.runOnce(eventId, async ({ signal }) => {
        if (!signal.aborted)
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
        await new Promise((resolve) => setTimeout(resolve, 200)); // The storage's lease ends a little later.
        await store.claims.deleteExpired(1_000);
      });
      expect(outcome).toBe("handled");
      expect(await once.runOnce(eventId, async () => {})).toBe("seen_before");
    });

    it("deletes expired ids, a limited number at once", async () => {
      const eventIds = Array.from({ length: 5 }, () => randomUUID());
      for (const eventId of eventIds) {
        await store.claims.claim(eventId, "owner", LONG_MS);
        await store.claims.complete(eventId, "owner", 50);
      }
      const kept = randomUUID();
      await store.claims.claim(kept, "owner", LONG_MS);
      await store.claims.complete(kept, "owner", LONG_MS);
      await new Promise((resolve) => setTimeout(resolve, 80));
      let total = 0;
      for (let deleted = 2; deleted > 0; total += deleted) {
        deleted = await store.claims.deleteExpired(2);
        expect(deleted).toBeLessThanOrEqual(2);
      }
      // Only SQL stores delete all: Redis expires ids itself, and memory stops at an unexpired id of an earlier test.
      if (isSql) expect(total).toBeGreaterThanOrEqual(eventIds.length);
      for (const eventId of eventIds) {
        expect(await store.claims.claim(eventId, "owner", 1)).toBe("claimed");
      }
      expect(await store.claims.claim(kept, "owner", 1)).toBe("done");
    });

    if (isSql) {
      describeTransactions(client, () => store, subject);
    }
  });
}
