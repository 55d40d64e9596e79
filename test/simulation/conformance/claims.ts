import { describe, expect, it } from "vitest";
import { Task } from "../../../server/src/dispatch/outbox-store.ts";
import type { RunKey } from "../../../server/src/dispatch/run-key.ts";
import { createReceiver, idsOf, type Subject } from "./subject.ts";

const LEASE_MS = 14_000;
const HOUR_MS = 3_600_000;

/** Tests the store's functions for claims. */
export function exerciseClaims(subject: () => Subject): void {
  describe("claimable entries", () => {
    it("are listed queue by queue, oldest first, after a position and up to a limit", async () => {
      const receiver = await createReceiver(subject(), 2);
      const { accountNo, endpointIds, store } = receiver;
      await receiver.donate(3);
      const [first = "", second = ""] = endpointIds;
      const own = (endpointId: string) => subject().deliveriesOf(accountNo, endpointId);
      const all = [...(await own(first)), ...(await own(second))];
      expect(await receiver.claimable()).toEqual(all);
      expect(await receiver.claimable(Task.Attempt, 2)).toEqual(all.slice(0, 2));
      expect(await receiver.claimable(Task.BeginRetries)).toEqual([]);
      const position = { accountNo, endpointId: first };
      const behind = await store.listClaimable(Task.Attempt, position, 256, true);
      const ofAccount = behind.filter((entry) => entry.accountNo === accountNo);
      expect(idsOf(ofAccount)).toEqual(await own(second));
    });

    it("include no leased entry, and begin with the entries of ended leases, the latest first", async () => {
      const receiver = await createReceiver(subject());
      const [one, two, three, four] = await receiver.donate(4);
      const lease = (run: RunKey, leaseId: string) =>
        receiver.store.leaseEntries(Task.Attempt, [run], leaseId.padEnd(15, "0"));
      await lease(four, "four");
      await subject().pass(5_000);
      await lease(three, "three");
      expect(await receiver.claimable()).toEqual(idsOf([one, two]));
      await subject().pass(LEASE_MS - 3_000);
      expect(await receiver.claimable()).toEqual(idsOf([four, one, two]));
      await subject().pass(3_000);
      expect(await receiver.claimable()).toEqual(idsOf([three, four, one, two]));
      expect(await receiver.claimable(Task.Attempt, 256, false)).toEqual(idsOf([one, two]));
    });

    it("include entries that were leased before the clock stepped back an hour, but not a second", async () => {
      const receiver = await createReceiver(subject());
      const runs = await receiver.donate();
      await receiver.store.leaseEntries(Task.Attempt, runs, "before a step00");
      const leased = async () =>
        (await receiver.countLeased(Task.Attempt)).get(receiver.endpointId);
      await subject().pass(-1_000);
      expect([await receiver.claimable(), await leased()]).toEqual([[], 1]);
      await subject().pass(-HOUR_MS);
      expect([await receiver.claimable(), await leased()]).toEqual([idsOf(runs), undefined]);
    });
  });

  describe("a lease", () => {
    it("belongs to the first claim, counts, and is released by its name only", async () => {
      const receiver = await createReceiver(subject());
      const { endpointId, store } = receiver;
      const runs = await receiver.donate(2);
      const [one, two] = runs;
      await store.leaseEntries(Task.BeginRetries, runs, "of another task");
      await store.leaseEntries(Task.Attempt, [one], "of the first 00");
      await store.leaseEntries(Task.Attempt, runs, "of the second 0");
      const load = async (leaseId: string) => idsOf(await store.loadLeasedAttempts(runs, leaseId));
      expect(await load("of another task")).toEqual([]);
      expect(await load("of the first 00")).toEqual([one.deliveryId]);
      expect(await load("of the second 0")).toEqual([two.deliveryId]);
      expect(await receiver.countLeased(Task.Attempt)).toEqual(new Map([[endpointId, 2]]));
      expect(await receiver.countLeased(Task.BeginRetries)).toEqual(new Map());
      await store.releaseEntries(runs, "of the first 00");
      expect(await receiver.claimable()).toEqual([one.deliveryId]);
      // The first claim can still load the entry, because no other lease followed.
      expect(await load("of the first 00")).toEqual([one.deliveryId]);
    });

    it("of a first attempt is renewed, of the same run only, once half of it is over", async () => {
      const receiver = await createReceiver(subject());
      const { store } = receiver;
      const [one, two, retry] = await receiver.donate(3);
      await receiver.fail(retry);
      await store.leaseEntries(Task.Attempt, [one, two], "of their maker0");
      await subject().pass(4_000);
      await store.renewLeases([one]);
      await subject().pass(5_000);
      await store.renewLeases([one, { ...two, run: 2 }, retry]);
      expect(await receiver.claimable(Task.BeginRetries)).toEqual([retry.deliveryId]);
      await subject().pass(LEASE_MS - 8_000);
      expect(await receiver.claimable()).toEqual([two.deliveryId]);
      await subject().pass(9_000);
      expect(await receiver.claimable()).toEqual(idsOf([one, two]));
      await store.renewLeases([one]);
      // The clock steps back.
      await subject().pass(-HOUR_MS);
      expect(await receiver.claimable()).toEqual(idsOf([one, two]));
      await store.renewLeases([one, two]);
      expect(await receiver.claimable()).toEqual([]);
    });

    it("of a new entry goes to the waiting poller, and to no other", async () => {
      const receiver = await createReceiver(subject());
      const over = new AbortController();
      const nothing = { entries: [], throttled: new Set<string>(), hasMore: false };
      const poller = { limit: 8, idle: true, slow: new Set<string>() };
      const claimed = subject().outbox.attempts.claim(async () => nothing, poller, over.signal);
      await new Promise(setImmediate);
      const runs = await receiver.donate();
      over.abort();
      const [given] = await claimed;
      expect(given).toMatchObject(runs[0]);
      expect(await receiver.claimable()).toEqual([]);
      const loaded = await receiver.store.loadLeasedAttempts(runs, given?.leaseId ?? "");
      expect(loaded).toMatchObject([{ isRunning: true, content: { eventId: given?.eventId } }]);
    });
  });

  it("the content of an attempt has the endpoint's current settings, and is undefined while nothing may be sent", async () => {
    const receiver = await createReceiver(subject());
    const { owner, endpointId, store } = receiver;
    const runs = await receiver.donate();
    await store.leaseEntries(Task.Attempt, runs, "a claim of it 0");
    const contents = async () => [
      (await store.loadLeasedAttempts(runs, "a claim of it 0"))[0]?.content,
      await receiver.content(runs[0]),
    ];
    const [before] = await contents();
    expect(before).toMatchObject({ endpointId, standardWebhooks: false });
    expect(await contents()).toEqual([before, before]);
    const secret = Buffer.from("another secret");
    await owner.rotate(endpointId, secret);
    expect((await contents()).map((content) => content?.secret)).toEqual([secret, secret]);
    const hindrances = [
      [owner.block, owner.unblock],
      [() => owner.switchOff(endpointId), () => owner.switchOn(endpointId)],
      [() => owner.remove(endpointId), () => owner.switchOn(endpointId)],
    ] as const;
    for (const [hinder, allow] of hindrances) {
      expect((await contents()).map((content) => content === undefined)).toEqual([false, false]);
      await hinder();
      expect(await contents()).toEqual([undefined, undefined]);
      await allow();
    }
    expect(await contents()).toEqual([undefined, undefined]);
  });
}
