import { DonationService } from "@activity/proto";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { beforeAll, expect, it } from "vitest";
import { createAccount, unique } from "../harness/builders.ts";
import { useTestStack } from "../harness/stack.ts";

const stack = useTestStack();
let accountId: string;
beforeAll(async () => {
  accountId = await createAccount(stack);
});

const REASON = /currency: must be eur: what is paid through the service is in euro only/;

it.each(["usd", "EUR", ""])(
  "§6.2 refuses donations and contributions in %j, with the reason",
  async (currency) => {
    const donations = stack.client(DonationService);
    const fields = { accountId, externalId: unique("donation"), amountCents: 500n, currency };
    await expect(
      donations.createDonation({ ...fields, donatedAt: timestampNow() }),
    ).rejects.toThrow(REASON);
    const contribution = { ...fields, subscriptionExternalId: "s", contributedAt: timestampNow() };
    await expect(donations.recordContribution(contribution)).rejects.toThrow(REASON);
  },
);
