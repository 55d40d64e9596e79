import { DisputeOutcome, type DonationService } from "@activity/proto";
import type { ServiceImpl } from "@connectrpc/connect";
import { lockAccount } from "../account/account-store.ts";
import type { Pool } from "../database/pool.ts";
import { inTransaction, type Transaction } from "../database/transaction.ts";
import { DomainError, ErrorCode } from "../errors.ts";
import { externalIdBytes } from "../stored-text.ts";
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

/** Creates the service that writes donations made through the service. */
export function createDonationService(pool: Pool): ServiceImpl<typeof DonationService> {
  /** Makes one change to a stored donation. */
  async function change(
    request: { accountId: string; externalId: string },
    make: (tx: Transaction, donation: DonationRecord) => Promise<DonationRecord>,
  ) {
    const externalId = externalIdBytes(request.externalId, "external_id");
    const donation = await inTransaction(pool, async (tx) => {
      const accountNo = await lockAccount(tx, request.accountId);
      const stored = await findDonation(tx, accountNo, SERVICE_PLATFORM, externalId);
      if (stored === undefined) throw donationNotFound();
      return make(tx, stored);
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

    payDonation: (request) => change(request, payDonation),

    refundDonation(request) {
      const refundId = externalIdBytes(request.refundExternalId, "refund_external_id");
      const amountCents = Number(request.amountCents);
      return change(request, (tx, donation) => refundDonation(tx, donation, refundId, amountCents));
    },

    openDispute(request) {
      const disputeId = externalIdBytes(request.disputeExternalId, "dispute_external_id");
      return change(request, (tx, donation) => openDispute(tx, donation, disputeId));
    },

    resolveDispute(request) {
      const disputeId = externalIdBytes(request.disputeExternalId, "dispute_external_id");
      const outcome = request.outcome === DisputeOutcome.WON ? DisputeState.Won : DisputeState.Lost;
      return change(request, (tx, donation) => resolveDispute(tx, donation, disputeId, outcome));
    },

    deleteDonation: (request) => change(request, deleteDonation),

    async recordContribution(request) {
      const fields = donationFromContribution(request);
      const subscriptionExternalId = externalIdBytes(
        request.subscriptionExternalId,
        "subscription_external_id",
      );
      const contribution = await inTransaction(pool, async (tx) => {
        const accountNo = await lockAccount(tx, request.accountId);
        return recordContribution(tx, { ...fields, accountNo }, subscriptionExternalId);
      });
      return { ...contribution, donation: donationToProto(contribution.donation) };
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
