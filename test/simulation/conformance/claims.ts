import { describe, expect, it } from "vitest";
import { Task } from "../../../server/src/dispatch/outbox-store.ts";
import type { RunKey } from "../../../server/src/dispatch/run-key.ts";
import { createReceiver, type Subject } from "./subject.ts";

const LEASE_MS = 14_000;
const HOUR_MS = 3_600_000;
const idsOf = (runs: readonly { readonly deliveryId: string }[]) =>
  runs.map(({ deliveryId }) => deliveryId);

/** What claims ask of a store. */
export function exerciseClaims(subject: () => Subject): void {
  describe("claimable entries", () => {
    it("come queue by queue, the oldest first, behind a position and up to a limit", async () => {
      const receiver = await createReceiver(subject(), 2);
      const { accountNo, endpointIds } = receiver;
      await receiver.donate(3);
      const [first = "", second = ""] = endpointIds;
      const own = (endpointId: string) => subject().deliveriesOf(accountNo, endpointId);
      const all = [...(await own(first)), ...(await own(second))];
      expect(await receiver.claimable()).toEqual(all);
      expect(await receiver.claimable(Task.Attempt, 2)).toEqual(all.slice(0, 2));
      expect(await receiver.claimable(Task.BeginRetries)).toEqual([]);
      const position = { accountNo, endpointId: first };
      const behind = await subject().store.listClaimable(Task.Attempt, position, 256);
      const ofAccount = behind.filter((entry) => entry.accountNo === accountNo);
      expect(idsOf(ofAccount)).toEqual(await own(second));
    });

    it("are none that is leased; a lost lease's come first, the latest before", async () => {
      const receiver = await createReceiver(subject());
      const [one, two, three, four] = await receiver.donate(4);
      const lease = (run: RunKey | undefined, leaseId: string) =>
        subject().store.leaseEntries(Task.Attempt, run ? [run] : [], leaseId.padEnd(15, "0"));
      await lease(four, "four");
      await subject().pass(1_000);
      await lease(three, "three");
      expect(await receiver.claimable()).toEqual(idsOf([one, two].flatMap((run) => run ?? [])));
      await subject().pass(LEASE_MS - 500);
      const order = [four, one, two].flatMap((run) => run ?? []);
      expect(await receiver.claimable()).toEqual(idsOf(order));
      await subject().pass(1_000);
      const both = [three, four, one, two].flatMap((run) => run ?? []);
      expect(await receiver.claimable()).toEqual(idsOf(both));
    });

    it("are those too that were leased before the clock stepped back an hour, and not a second", async () => {
      const receiver = await createReceiver(subject());
      const runs = await receiver.donate();
      await subject().store.leaseEntries(Task.Attempt, runs, "before a step00");
      const { accountNo, endpointId } = receiver;
      const leased = async () =>
        (await subject().store.countLeased(Task.Attempt, [{ accountNo, endpointId }])).get(
          endpointId,
        );
      await subject().pass(-1_000);
      expect([await receiver.claimable(), await leased()]).toEqual([[], 1]);
      await subject().pass(-HOUR_MS);
      expect([await receiver.claimable(), await leased()]).toEqual([idsOf(runs), undefined]);
    });
  });

  describe("a lease", () => {
    it("is had by the first who asks, counted, and given back by its name only", async () => {
      const receiver = await createReceiver(subject());
      const { store } = subject();
      const runs = await receiver.donate(2);
      const [one] = runs;
      if (one === undefined) throw new Error("nothing was written");
      await store.leaseEntries(Task.BeginRetries, runs, "of another task");
      await store.leaseEntries(Task.Attempt, [one], "of the first 00");
      await store.leaseEntries(Task.Attempt, runs, "of the second 0");
      const load = async (leaseId: string) => idsOf(await store.loadLeasedAttempts(runs, leaseId));
      expect(await load("of another task")).toEqual([]);
      expect(await load("of the first 00")).toEqual([one.deliveryId]);
      expect(await load("of the second 0")).toEqual(idsOf(runs.slice(1)));
      const { accountNo, endpointId } = receiver;
      const queue = { accountNo, endpointId };
      expect(await store.countLeased(Task.Attempt, [queue])).toEqual(new Map([[endpointId, 2]]));
      expect(await store.countLeased(Task.BeginRetries, [queue])).toEqual(new Map());
      await store.releaseEntries(runs, "of the first 00");
      expect(await receiver.claimable()).toEqual([one.deliveryId]);
      // Its holder can still load it, because no other lease came since.
      expect(await load("of the first 00")).toEqual([one.deliveryId]);
    });

    it("is given to a poller that waits with what is written, and to nobody else", async () => {
      const receiver = await createReceiver(subject());
      const { outbox, store } = subject();
      const over = new AbortController();
      const nothing = { entries: [], throttled: new Set<string>(), hasMore: false };
      const poller = { limit: 8, idle: true, slow: new Set<string>() };
      const claimed = outbox.attempts.claim(async () => nothing, poller, over.signal);
      await new Promise(setImmediate);
      const runs = await receiver.donate();
      over.abort();
      const [given] = await claimed;
      expect(given).toMatchObject(runs[0] ?? {});
      expect(await receiver.claimable()).toEqual([]);
      const loaded = await store.loadLeasedAttempts(runs, given?.leaseId ?? "");
      expect(loaded).toMatchObject([{ isRunning: true, content: { eventId: given?.eventId } }]);
    });
  });

  describe("the content of an attempt", () => {
    it("is the endpoint's of now, and there is none while nothing may be sent", async () => {
      const receiver = await createReceiver(subject());
      const { owner, endpointId } = receiver;
      const { store } = subject();
      const runs = await receiver.donate();
      const [run] = runs;
      if (run === undefined) throw new Error("nothing was written");
      await store.leaseEntries(Task.Attempt, runs, "a claim of it 0");
      const contents = async () => [
        (await store.loadLeasedAttempts(runs, "a claim of it 0"))[0]?.content,
        await receiver.content(run),
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
  });
}
