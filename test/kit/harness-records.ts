import { DonationService } from "@activity/proto";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { createPaidDonation, unique } from "../harness/builders.ts";
import type { TestStack } from "../harness/stack.ts";

const TEXT = { donorName: "Zoë", message: "Grüße 🎉 ' \" \\ \u2028" };

/**
 * Writes records through the core so that webhook events of every kind occur. Each turn writes a payment. Some turns
 * add a refund, a dispute or a subscription with its first contribution.
 */
export async function writeRecords(
  stack: TestStack,
  accountId: string,
  turn: number,
): Promise<void> {
  const donations = stack.client(DonationService);
  const { externalId } = await createPaidDonation(stack, accountId, TEXT);
  const donation = { accountId, externalId };
  if (turn % 3 === 0) {
    const refund = { refundExternalId: unique("refund"), amountCents: 100n };
    await donations.refundDonation({ ...donation, ...refund });
  }
  if (turn % 5 === 0) {
    await donations.openDispute({ ...donation, disputeExternalId: unique("dispute") });
  }
  if (turn % 4 === 0) {
    await donations.recordContribution({
      accountId,
      externalId: unique("contribution"),
      subscriptionExternalId: unique("subscription"),
      amountCents: 700n,
      currency: "eur",
      contributedAt: timestampNow(),
      ...TEXT,
    });
  }
}
