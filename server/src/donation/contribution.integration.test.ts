import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { beforeAll, describe, expect, it } from "vitest";
import { unique } from "../../../test/harness/builders.ts";
import { useServices } from "../../../test/harness/services.ts";
import { ErrorCode } from "../common/errors.ts";

const services = useServices();
let accountId: string;
beforeAll(async () => {
  accountId = await services.createAccount();
});

const FIELDS = {
  amountCents: 500n,
  currency: "eur",
  contributedAt: timestampFromMs(1_700_000_000_000),
};

function contribute(externalId: string, subscriptionExternalId: string, test = false) {
  const ids = { accountId, externalId, subscriptionExternalId };
  return services.donations.recordContribution({ ...ids, ...FIELDS, test });
}

describe("a contribution", () => {
  it("starts its subscription if it is the first, and says so again when it is repeated", async () => {
    const subscription = unique("subscription");
    const [january, february] = [unique("january"), unique("february")];
    const first = await contribute(january, subscription);
    const second = await contribute(february, subscription);
    expect(first.first).toBe(true);
    expect(first.subscriptionId).toMatch(/^[a-z0-9]{15}$/);
    expect(second).toMatchObject({ first: false, subscriptionId: first.subscriptionId });
    expect(await contribute(january, subscription)).toEqual(first);
    expect(await contribute(february, unique("another"))).toEqual(second);
  });

  it("that is a test starts no subscription and is not in the feed", async () => {
    const subscription = unique("subscription");
    const tried = await contribute(unique("test"), subscription, true);
    expect(tried.first).toBe(false);
    expect(tried.donation?.visible).toBe(false);
    const real = await contribute(unique("month"), subscription);
    expect(real).toMatchObject({ first: true, subscriptionId: tried.subscriptionId });
  });

  it("cannot have the external id of a donation that is not a contribution", async () => {
    const externalId = unique("donation");
    const donatedAt = FIELDS.contributedAt;
    const fields = { amountCents: 1n, currency: "eur", donatedAt };
    await services.donations.createDonation({ accountId, externalId, ...fields });
    await expect(contribute(externalId, unique("subscription"))).rejects.toMatchObject({
      code: ErrorCode.DonationTransitionRefused,
    });
  });
});
