import { DonationService } from "@activity/proto";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { createAccount, createEndpoint, unique } from "../../harness/builders.ts";
import { untilAcknowledged } from "./harness-repeat.ts";
import type { CrashStack } from "./harness-stack.ts";

/** The accounts of one test, each with an endpoint at the receiver. */
export type Party = {
  readonly accountIds: readonly string[];
  readonly secrets: readonly string[];
  /** The beginning of its endpoints' paths. */
  readonly path: string;
};

/** Stored texts that tests search for in histories and logs. */
export const STORED_TEXTS = {
  donorName: "Wilhelmina Zzyzx",
  message: "plum teapot monsoon",
  path: "velvet-otter",
} as const;

const WRITERS_PER_ACCOUNT = 2;

/** Creates the accounts and endpoints of one test. */
export async function createParty(stack: CrashStack, accounts: number): Promise<Party> {
  const path = `/${STORED_TEXTS.path}/${unique("party")}/`;
  const created = Array.from({ length: accounts }, async () => {
    const accountId = await createAccount(stack);
    const url = `https://${stack.target}${path}${accountId}`;
    return { accountId, ...(await createEndpoint(stack, accountId, url)) };
  });
  const all = await Promise.all(created);
  return {
    accountIds: all.map(({ accountId }) => accountId),
    secrets: all.map(({ secret }) => secret),
    path,
  };
}

/**
 * Makes `count` paid donations as fast as the core accepts them. Repeats each call until it is acknowledged, as a
 * caller must that may not lose one.
 */
export async function writeDonations(
  stack: CrashStack,
  { accountIds }: Party,
  count: number,
): Promise<void> {
  const donations = stack.client(DonationService);
  let left = count;

  async function write(accountId: string): Promise<void> {
    while (left > 0) {
      left -= 1;
      const { donorName, message } = STORED_TEXTS;
      const externalId = unique("donation");
      const fields = { amountCents: 500n, currency: "eur", donatedAt: timestampNow() };
      const donation = { accountId, externalId, donorName, message, ...fields };
      await untilAcknowledged(() => donations.createDonation(donation));
      await untilAcknowledged(() => donations.payDonation({ accountId, externalId }));
    }
  }

  const writers = accountIds.flatMap((accountId) =>
    Array.from({ length: WRITERS_PER_ACCOUNT }, () => write(accountId)),
  );
  await Promise.all(writers);
}
