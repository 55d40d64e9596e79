import {
  DisputeOutcome,
  type Donation,
  DonationService,
  Platform,
  type PlatformEvent,
  PlatformEventService,
} from "@activity/proto";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { unique } from "../harness/builders.ts";
import type { Clients } from "../harness/clients.ts";
import type { ActivityJson } from "../harness/json.ts";

/** The whole content of a feed, oldest first. */
export type FeedState = readonly ActivityJson[];

/** A feed, its state after each change, and the change in flight. */
export type ChangingFeed = {
  readonly accountId: string;
  /** All states so far. The first is empty. */
  readonly states: FeedState[];
  /** The number of changes that have begun. While one is in flight, there is no state for it yet. */
  begun(): number;
  /** Resolves when the change in flight is answered. */
  settled(): Promise<void>;
  /** Makes one random change. */
  change(): Promise<void>;
};

const CENTS = 500n;
/** A feed with more records shrinks before it grows again. */
const MAX_RECORDS = 60;
const at = timestampFromMs(1_600_000_000_000);

type Paid = { readonly externalId: string; shown: ActivityJson; disputes: number; open: boolean };
type Followed = { readonly externalId: string; readonly shown: ActivityJson };

/** Creates an empty feed. Await each change before the next. `call` may use a different core each time. */
export function createChangingFeed(accountId: string, call: Clients): ChangingFeed {
  const states: FeedState[] = [[]];
  const paid: Paid[] = [];
  const followed: Followed[] = [];
  let begun = 0;
  let inFlight = Promise.resolve();

  const changes: Record<string, () => Promise<void>> = {
    async pay() {
      const externalId = unique("donation");
      const donorName = `${accountId} "Zoë" \u2028 💜`;
      const created = { accountId, externalId, amountCents: CENTS, currency: "eur", donatedAt: at };
      await call(DonationService).createDonation({ ...created, donorName, message: externalId });
      await making(async () => {
        const { donation } = await call(DonationService).payDonation({ accountId, externalId });
        const shown = donationJson(donation, donorName, externalId);
        paid.push({ externalId, shown, disputes: 0, open: false });
        return [...current(), shown];
      });
    },
    async refund() {
      const donation = pick(undisputed());
      if (donation === undefined) return changes.pay?.();
      const { externalId } = donation;
      const amountCents = pick([100n, 200n]) ?? 0n;
      const refunded = Number(donation.shown.refunded_amount_cents) + Number(amountCents);
      if (refunded > Number(CENTS)) return changes.delete?.();
      await making(async () => {
        const refundExternalId = unique("refund");
        const refund = { accountId, externalId, refundExternalId, amountCents };
        await call(DonationService).refundDonation(refund);
        const before = donation.shown;
        donation.shown = { ...before, refunded_amount_cents: refunded };
        if (refunded < Number(CENTS)) return replaced(before, donation.shown);
        paid.splice(paid.indexOf(donation), 1);
        return without(before);
      });
    },
    async dispute() {
      const donation = pick(undisputed());
      if (donation === undefined) return changes.pay?.();
      const { externalId, shown } = donation;
      await making(async () => {
        donation.open = true;
        const disputeExternalId = `${++donation.disputes}`;
        await call(DonationService).openDispute({ accountId, externalId, disputeExternalId });
        return without(shown);
      });
    },
    async resolve() {
      const donation = pick(paid.filter(({ open }) => open));
      if (donation === undefined) return changes.dispute?.();
      const { externalId, shown } = donation;
      await making(async () => {
        donation.open = false;
        const names = { accountId, externalId, disputeExternalId: `${donation.disputes}` };
        await call(DonationService).resolveDispute({ ...names, outcome: DisputeOutcome.WON });
        return [...current(), shown].sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
      });
    },
    async delete() {
      const donation = pick(undisputed());
      if (donation === undefined) return changes.unfollow?.();
      paid.splice(paid.indexOf(donation), 1);
      await making(async () => {
        await call(DonationService).deleteDonation({ accountId, externalId: donation.externalId });
        return without(donation.shown);
      });
    },
    async follow() {
      await making(async () => {
        const externalId = unique("follow");
        const { platformEvent } = await call(PlatformEventService).recordPlatformEvent({
          ...{ accountId, platform: Platform.LIVE_PLATFORM_1, externalId, actorName: accountId },
          kind: { case: "follow", value: {} },
        });
        const shown = followJson(platformEvent, accountId);
        followed.push({ externalId, shown });
        return [...current(), shown];
      });
    },
    async unfollow() {
      const event = pick(followed);
      if (event === undefined) return changes.follow?.();
      followed.splice(followed.indexOf(event), 1);
      const { externalId, shown } = event;
      await making(async () => {
        const platform = Platform.LIVE_PLATFORM_1;
        await call(PlatformEventService).deletePlatformEvent({ accountId, platform, externalId });
        return without(shown);
      });
    },
  };
  const growing = [...Object.keys(changes), "pay", "follow"];
  const shrinking = ["delete", "unfollow"];
  const undisputed = () => paid.filter(({ open }) => !open);
  const current = () => states.at(-1) ?? [];
  const without = (shown: ActivityJson) => current().filter(({ id }) => id !== shown.id);
  const replaced = (before: ActivityJson, after: ActivityJson) =>
    current().map((each) => (each.id === before.id ? after : each));

  function making(change: () => Promise<FeedState>): Promise<void> {
    begun += 1;
    inFlight = change().then((state) => {
      states.push(state);
    });
    return inFlight;
  }

  let isShrinking = false;
  return {
    accountId,
    states,
    begun: () => begun,
    settled: () => inFlight,
    async change() {
      if (current().length > MAX_RECORDS) isShrinking = true;
      if (current().length < MAX_RECORDS / 2) isShrinking = false;
      const name = pick(isShrinking ? shrinking : growing);
      await changes[name ?? ""]?.();
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

/** The fields are in the order in which the product writes them. */
function donationJson(donation: Donation | undefined, name: string, message: string): ActivityJson {
  return {
    ...{ id: `don_${donation?.recordId}`, type: "donation", platform: "service" },
    ...{ occurred_at: timeJson(at), recorded_at: timeJson(donation?.recordedAt), actor: { name } },
    ...{ message, value: Number(CENTS), unit: "cents", currency: "eur", refunded_amount_cents: 0 },
  };
}

function followJson(event: PlatformEvent | undefined, name: string): ActivityJson {
  const time = timeJson(event?.recordedAt);
  return {
    ...{ id: `evt_${event?.recordId}`, type: "follow", platform: "live_platform_1" },
    ...{ occurred_at: time, recorded_at: time, actor: { name }, message: null },
    ...{ value: 0, unit: "none", currency: null, refunded_amount_cents: null },
  };
}

function timeJson(time: Timestamp | undefined): string {
  if (time === undefined) throw new Error("a record without its time");
  const seconds = new Date(Number(time.seconds) * 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(time.nanos / 1000).padStart(6, "0")}Z`;
}
