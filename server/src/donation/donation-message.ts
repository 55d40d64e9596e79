import type {
  CreateDonationRequest,
  DonationSchema,
  RecordContributionRequest,
} from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { SERVICE_PLATFORM } from "../activity/activity-values.ts";
import { externalIdBytes, parseOptionalText } from "../common/stored-text.ts";
import { requiredMicros, timestampFromMicros } from "../common/timestamps.ts";
import { DonationStatus, isVisible } from "./donation-status.ts";
import type { DonationRecord } from "./donation-store.ts";

/** A new donation without its account number and record id. */
export type DonationFields = Omit<DonationRecord, "accountNo" | "recordId">;

export function donationToProto(donation: DonationRecord): MessageInitShape<typeof DonationSchema> {
  const { recordedAt } = donation;
  return {
    recordId: donation.recordId,
    externalId: donation.externalId.toString("utf8"),
    status: donation.status,
    amountCents: BigInt(donation.amountCents),
    currency: donation.currency,
    refundedAmountCents: BigInt(donation.refundedAmountCents),
    test: donation.test,
    ...(recordedAt !== undefined && { recordedAt: timestampFromMicros(recordedAt) }),
    visible: isVisible(donation),
  };
}

/** Converts a request to a new donation that is not paid yet. */
export function newDonation(
  request: CreateDonationRequest | RecordContributionRequest,
  date: Timestamp | undefined,
  dateField: string,
): DonationFields {
  return {
    platform: SERVICE_PLATFORM,
    externalId: externalIdBytes(request.externalId, "external_id"),
    status: DonationStatus.Created,
    // The amount is at most 2^53 - 1, so the number is exact.
    amountCents: Number(request.amountCents),
    currency: request.currency,
    refundedAmountCents: 0,
    donorName: parseOptionalText(request.donorName, "donor_name"),
    message: parseOptionalText(request.message, "message"),
    donatedAt: requiredMicros(date, dateField),
    recordedAt: undefined,
    test: request.test,
    subscriptionId: undefined,
  };
}
