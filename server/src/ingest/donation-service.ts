import { DisputeOutcome, type DonationService } from "@activity/proto";
import type { ServiceImpl } from "@connectrpc/connect";
import { lockAccount } from "../account/account-store.ts";
import type { Pool } from "../database/pool.ts";
import { inTransaction, type Transaction } from "../database/transaction.ts";
import { inOutboxTransaction, type Outbox } from "../dispatch/outbox.ts";
import { DomainError, ErrorCode } from "../errors.ts";
import { externalIdBytes } from "../stored-text.ts";
import { emitWebhookEvents } from "../webhook-event/emit-webhook-event.ts";
import type { WebhookEventData } from "../webhook-event/webhook-event.ts";
import { SERVICE_PLATFORM } from "./activity-values.ts";
import { recordContribution } from "./contribution.ts";
import {
  deleteDonation,
  openDispute,
  payDonation,
  refundDonation,
  resolveDispute,
} from "./donation-changes.ts";
import {
  type DonationFields,
  donationFromContribution,
  donationFromRequest,
  donationToProto,
} from "./donation-message.ts";
import { DisputeState } from "./donation-status.ts";
import { type DonationRecord, findDonation, insertDonations } from "./donation-store.ts";
import { eventsOfChange, eventsOfContribution } from "./donation-webhooks.ts";

/** Creates the service that writes donations made through the service. */
export function createDonationService(
  pool: Pool,
  outbox: Outbox,
): ServiceImpl<typeof DonationService> {
  /** Makes one change to a stored donation, and writes the webhook events it causes. */
  async function change(
    request: { accountId: string; externalId: string },
    make: (tx: Transaction, donation: DonationRecord) => Promise<DonationRecord>,
    eventsOf: (before: DonationRecord, after: DonationRecord) => WebhookEventData[] = () => [],
  ) {
    const externalId = externalIdBytes(request.externalId, "external_id");
    const donation = await inOutboxTransaction(pool, outbox, async (tx, writer) => {
      const accountNo = await lockAccount(tx, request.accountId);
      const stored = await findDonation(tx, accountNo, SERVICE_PLATFORM, externalId);
      if (stored === undefined) throw donationNotFound();
      const changed = await make(tx, stored);
      await emitWebhookEvents(tx, writer, accountNo, eventsOf(stored, changed));
      return changed;
    });
    return { donation: donationToProto(donation) };
  }

  return {
    async createDonation(request) {
      const fields = donationFromRequest(request);
      const donation = await inTransaction(pool, async (tx) => {
        const accountNo = await lockAccount(tx, request.accountId);
        return createDonation(tx, accountNo, fields);
      });
      return { donation: donationToProto(donation) };
    },

    payDonation: (request) =>
      change(request, payDonation, (before, after) => eventsOfChange(before, after, "pay")),

    refundDonation(request) {
      const refundId = externalIdBytes(request.refundExternalId, "refund_external_id");
      const amountCents = Number(request.amountCents);
      return change(
        request,
        (tx, donation) => refundDonation(tx, donation, refundId, amountCents),
        (before, after) => eventsOfChange(before, after, "refund"),
      );
    },

    openDispute(request) {
      const disputeId = externalIdBytes(request.disputeExternalId, "dispute_external_id");
      return change(
        request,
        (tx, donation) => openDispute(tx, donation, disputeId),
        (before, after) => eventsOfChange(before, after, "dispute"),
      );
    },

    resolveDispute(request) {
      const disputeId = externalIdBytes(request.disputeExternalId, "dispute_external_id");
      const outcome = request.outcome === DisputeOutcome.WON ? DisputeState.Won : DisputeState.Lost;
      return change(
        request,
        (tx, donation) => resolveDispute(tx, donation, disputeId, outcome),
        (before, after) => eventsOfChange(before, after, "dispute"),
      );
    },

    deleteDonation: (request) => change(request, deleteDonation),

    async recordContribution(request) {
      const fields = donationFromContribution(request);
      const subscriptionExternalId = externalIdBytes(
        request.subscriptionExternalId,
        "subscription_external_id",
      );
      const contribution = await inOutboxTransaction(pool, outbox, async (tx, writer) => {
        const accountNo = await lockAccount(tx, request.accountId);
        const stored = await recordContribution(
          tx,
          { ...fields, accountNo },
          subscriptionExternalId,
        );
        if (stored.isNew) {
          await emitWebhookEvents(
            tx,
            writer,
            accountNo,
            eventsOfContribution(stored.donation, stored.subscriptionId, stored.first),
          );
        }
        return stored;
      });
      const { donation, subscriptionId, first } = contribution;
      return { donation: donationToProto(donation), subscriptionId, first };
    },
  };
}

async function createDonation(
  tx: Transaction,
  accountNo: number,
  fields: DonationFields,
): Promise<DonationRecord> {
  const stored = await findDonation(tx, accountNo, SERVICE_PLATFORM, fields.externalId);
  if (stored !== undefined) return stored;
  const donation = { ...fields, accountNo };
  await insertDonations(tx, [donation]);
  return donation;
}

function donationNotFound(): DomainError {
  return new DomainError(
    ErrorCode.DonationNotFound,
    "The account has no donation with this external_id.",
  );
}
