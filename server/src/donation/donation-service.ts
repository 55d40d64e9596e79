import { DisputeOutcome, type DonationService, Platform } from "@activity/proto";
import type { ServiceImpl } from "@connectrpc/connect";
import { SERVICE_PLATFORM } from "../activity/activity-values.ts";
import { DomainError, ErrorCode } from "../common/errors.ts";
import { externalIdBytes } from "../common/stored-text.ts";
import { newWebhookEvents } from "../webhook-event/new-webhook-event.ts";
import type { WebhookEventData } from "../webhook-event/webhook-event.ts";
import { receivingEndpointsOf } from "../webhook-event/webhook-event-store.ts";
import type { Writer } from "../write/writer.ts";
import { newContribution, storedContribution } from "./contribution.ts";
import { disputesOf } from "./dispute-store.ts";
import {
  type ChangedDonation,
  type DonationState,
  deleteDonation,
  openDispute,
  payDonation,
  refundDonation,
  resolveDispute,
} from "./donation-changes.ts";
import { donationToProto, newDonation } from "./donation-message.ts";
import { DisputeState } from "./donation-status.ts";
import { type DonationRecord, donationsBy, storeDonation } from "./donation-store.ts";
import { eventsOfChange, eventsOfContribution } from "./donation-webhooks.ts";
import { refundsOf } from "./refund-store.ts";
import { subscriptionsBy } from "./subscription-store.ts";

/** Names a donation. Without `platform`, it was made through the service. */
type DonationKey = {
  readonly accountId: string;
  readonly externalId: string;
  readonly platform?: number;
};

type DonationWrite = {
  readonly applyTo: (stored: DonationState, recordedAt: number) => ChangedDonation;
  readonly eventsOf: (before: DonationRecord, after: DonationRecord) => WebhookEventData[];
  /** Whether the change needs the stored refunds and disputes. */
  readonly loadsPayments: boolean;
  /**
   * Whether the change waits for deliveries that another transaction locks. It then shares no commit with other writes.
   */
  readonly locksDeliveries?: boolean;
};

/** Creates the service that writes donations made through the service, and deletes imported ones too. */
export function createDonationService({ write }: Writer): ServiceImpl<typeof DonationService> {
  /** Makes one change to a stored donation and writes its webhook events. */
  async function change(
    { accountId, externalId, platform = SERVICE_PLATFORM }: DonationKey,
    { applyTo, eventsOf, loadsPayments, locksDeliveries = false }: DonationWrite,
  ) {
    const bytes = externalIdBytes(externalId, "external_id");
    const donation = await write({
      accountId,
      ...(!locksDeliveries && { touches: [donationName(bytes)] }),
      load(accountNo) {
        const key = [accountNo, platform, bytes];
        const payments = loadsPayments ? [key] : [];
        return {
          donation: donationsBy(key),
          refunds: refundsOf(...payments),
          disputes: disputesOf(...payments),
          endpoints: receivingEndpointsOf([accountNo]),
        };
      },
      decide({ donation: [stored], refunds, disputes, endpoints }, account) {
        if (stored === undefined) throw donationNotFound(platform);
        const { recordedAt } = account;
        const { donation, ...rest } = applyTo({ donation: stored, refunds, disputes }, recordedAt);
        const data = eventsOf(stored, donation);
        return { ...rest, answer: donation, events: newWebhookEvents(account, endpoints, data) };
      },
    });
    return { donation: donationToProto(donation) };
  }

  return {
    async createDonation(request) {
      const fields = newDonation(request, request.donatedAt, "donated_at");
      const donation = await write({
        accountId: request.accountId,
        touches: [donationName(fields.externalId)],
        load: (accountNo) => ({
          donation: donationsBy([accountNo, SERVICE_PLATFORM, fields.externalId]),
        }),
        decide({ donation: [stored] }, { accountNo, newId }) {
          if (stored !== undefined) return { answer: stored };
          const created: DonationRecord = { ...fields, accountNo, recordId: newId() };
          return { answer: created, changes: [storeDonation(created)] };
        },
      });
      return { donation: donationToProto(donation) };
    },

    payDonation: (request) =>
      change(request, {
        applyTo: payDonation,
        eventsOf: (before, after) => eventsOfChange(before, after, "pay"),
        loadsPayments: false,
      }),

    refundDonation(request) {
      const refundId = externalIdBytes(request.refundExternalId, "refund_external_id");
      const amountCents = Number(request.amountCents);
      return change(request, {
        applyTo: (stored) => refundDonation(stored, refundId, amountCents),
        eventsOf: (before, after) => eventsOfChange(before, after, "refund"),
        loadsPayments: true,
      });
    },

    openDispute(request) {
      const disputeId = externalIdBytes(request.disputeExternalId, "dispute_external_id");
      return change(request, {
        applyTo: (stored) => openDispute(stored, disputeId),
        eventsOf: (before, after) => eventsOfChange(before, after, "dispute"),
        loadsPayments: true,
      });
    },

    resolveDispute(request) {
      const disputeId = externalIdBytes(request.disputeExternalId, "dispute_external_id");
      const outcome = request.outcome === DisputeOutcome.WON ? DisputeState.Won : DisputeState.Lost;
      return change(request, {
        applyTo: (stored) => resolveDispute(stored, disputeId, outcome),
        eventsOf: (before, after) => eventsOfChange(before, after, "dispute"),
        loadsPayments: true,
      });
    },

    deleteDonation({ platform, ...request }) {
      const key = { ...request, ...(platform !== Platform.UNSPECIFIED && { platform }) };
      return change(key, {
        applyTo: deleteDonation,
        eventsOf: () => [],
        ...{ loadsPayments: false, locksDeliveries: true },
      });
    },

    async recordContribution(request) {
      const fields = newDonation(request, request.contributedAt, "contributed_at");
      const externalId = externalIdBytes(
        request.subscriptionExternalId,
        "subscription_external_id",
      );
      const { donation, subscriptionId, first } = await write({
        accountId: request.accountId,
        touches: [donationName(fields.externalId), `subscription ${externalId.toString("latin1")}`],
        load: (accountNo) => ({
          donation: donationsBy([accountNo, SERVICE_PLATFORM, fields.externalId]),
          subscription: subscriptionsBy([accountNo, externalId]),
          endpoints: receivingEndpointsOf([accountNo]),
        }),
        decide({ donation: [stored], subscription: [subscription], endpoints }, account) {
          if (stored !== undefined) return { answer: storedContribution(stored) };
          const { accountNo, recordedAt, newId } = account;
          const created = { ...fields, accountNo, recordId: newId() };
          const named = { externalId, stored: subscription ?? { id: newId() } };
          const { contribution, ...rest } = newContribution(created, named, recordedAt);
          const events = newWebhookEvents(account, endpoints, eventsOfContribution(contribution));
          return { ...rest, answer: contribution, events };
        },
      });
      return { donation: donationToProto(donation), subscriptionId, first };
    },
  };
}

function donationName(externalId: Buffer): string {
  return `donation ${externalId.toString("latin1")}`;
}

function donationNotFound(platform: number): DomainError {
  const origin = platform === SERVICE_PLATFORM ? "made through the service" : "of this platform";
  return new DomainError(
    ErrorCode.DonationNotFound,
    `The account has no donation ${origin} with this external_id.`,
  );
}
