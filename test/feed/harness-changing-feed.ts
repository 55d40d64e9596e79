import * as proto from "@activity/proto";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { createPlatformEvent, unique } from "../harness/builders.ts";
import type { Clients } from "../harness/clients.ts";
import type { ActivityJson, PageJson } from "../harness/json.ts";

/** The whole content of a feed, oldest first. */
export type FeedState = readonly ActivityJson[];

/** A feed, its state after each change, and the change in flight. */
export type ChangingFeed = ReturnType<typeof createChangingFeed>;

const CENTS = 500;
/** A feed with more records than this shrinks before it grows again. */
const MAX_RECORDS = 60;

type ChangeName = "pay" | "refund" | "dispute" | "resolve" | "delete" | "follow" | "unfollow";
type Paid = { readonly externalId: string; refunded: number; disputes: number; open: boolean };

/** Creates an empty feed. Await each change before the next. `call` may use a different core each time. */
export function createChangingFeed(accountId: string, call: Clients) {
  const states: FeedState[] = [[]];
  const paid: Paid[] = [];
  const followed: string[] = [];
  let [begun, answered] = [0, 0];
  let inFlight = Promise.resolve();

  const donations = () => call(proto.DonationService);
  const undisputed = () => paid.filter(({ open }) => !open);
  const changes: Readonly<Record<ChangeName, () => Promise<void>>> = {
    async pay() {
      const key = { accountId, externalId: unique("donation") };
      const texts = { donorName: `${accountId} "Zoë" \u2028 💜`, message: key.externalId };
      const money = { amountCents: BigInt(CENTS), currency: "eur", donatedAt: timestampNow() };
      await donations().createDonation({ ...key, ...texts, ...money });
      paid.push({ externalId: key.externalId, refunded: 0, disputes: 0, open: false });
      return making(() => donations().payDonation(key));
    },
    async refund() {
      const donation = pick(undisputed());
      if (donation === undefined) return changes.pay();
      const cents = pick([100, 200]) ?? 0;
      if (donation.refunded + cents > CENTS) return changes.delete();
      donation.refunded += cents;
      if (donation.refunded === CENTS) paid.splice(paid.indexOf(donation), 1);
      const refund = { refundExternalId: unique("refund"), amountCents: BigInt(cents) };
      const { externalId } = donation;
      return making(() => donations().refundDonation({ accountId, externalId, ...refund }));
    },
    async dispute() {
      const donation = pick(undisputed());
      if (donation === undefined) return changes.pay();
      donation.open = true;
      const key = { accountId, externalId: donation.externalId };
      const disputeExternalId = `${++donation.disputes}`;
      return making(() => donations().openDispute({ ...key, disputeExternalId }));
    },
    async resolve() {
      const donation = pick(paid.filter(({ open }) => open));
      if (donation === undefined) return changes.dispute();
      donation.open = false;
      const key = { accountId, externalId: donation.externalId };
      const won = { disputeExternalId: `${donation.disputes}`, outcome: proto.DisputeOutcome.WON };
      return making(() => donations().resolveDispute({ ...key, ...won }));
    },
    async delete() {
      const donation = pick(undisputed());
      if (donation === undefined) return changes.unfollow();
      const [{ externalId } = donation] = paid.splice(paid.indexOf(donation), 1);
      return making(() => donations().deleteDonation({ accountId, externalId }));
    },
    async follow() {
      const externalId = unique("follow");
      followed.push(externalId);
      const event = { externalId, actorName: accountId };
      return making(() => createPlatformEvent({ client: call }, accountId, event));
    },
    async unfollow() {
      const externalId = pick(followed);
      if (externalId === undefined) return changes.follow();
      followed.splice(followed.indexOf(externalId), 1);
      const key = { accountId, externalId, platform: proto.Platform.LIVE_PLATFORM_1 };
      return making(() => call(proto.PlatformEventService).deletePlatformEvent(key));
    },
  };
  const growing = [...Object.values(changes), changes.pay, changes.follow];
  const shrinking = [changes.delete, changes.unfollow];

  function making(change: () => Promise<unknown>): Promise<void> {
    begun += 1;
    inFlight = change().then(async () => {
      answered += 1;
      const all = { accountId, order: proto.Order.ASC, limit: 100, asJson: true };
      const { json } = await call(proto.ActivityService).listActivities(all);
      states.push((JSON.parse(Buffer.from(json).toString()) as PageJson).data);
    });
    return inFlight;
  }

  let isShrinking = false;
  return {
    /** All states so far. The first is empty. The last one is read from a core after its change was answered. */
    states,
    begun: () => begun,
    answered: () => answered,
    /** Resolves when the state after the last change is known. */
    settled: () => inFlight,
    /** Makes one random change. */
    async change() {
      const records = states.at(-1)?.length ?? 0;
      if (records > MAX_RECORDS) isShrinking = true;
      if (records < MAX_RECORDS / 2) isShrinking = false;
      await pick(isShrinking ? shrinking : growing)?.();
    },
  };
}

/** Picks an element at random. */
export function pick<T>(all: readonly T[]): T | undefined {
  return all[Math.floor(Math.random() * all.length)];
}

/** The place of an activity in its feed, as a text that sorts: `recorded_at`, then record id, then source. §4.2 */
export function placeOf({ recorded_at, id }: ActivityJson): string {
  return `${recorded_at} ${id.slice(4)} ${id.slice(0, 3)}`;
}
