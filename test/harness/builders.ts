import { randomBytes } from "node:crypto";
import {
  AccountService,
  ApiKeyService,
  DonationService,
  ImportService,
  Platform,
  PlatformEventService,
  type RecordPlatformEventRequestSchema,
} from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { TestStack } from "./stack.ts";

/** A new name that nothing else in the run has. */
export const unique = (prefix: string) => `${prefix}-${randomBytes(6).toString("hex")}`;

/** Creates an account, verified unless told otherwise, and returns its id. */
export async function createAccount(
  stack: Pick<TestStack, "client">,
  { verified = true }: { verified?: boolean } = {},
): Promise<string> {
  const accounts = stack.client(AccountService);
  const { account } = await accounts.putAccount({
    externalId: unique("account"),
    username: unique("user"),
    displayName: "Streamer ★",
  });
  const accountId = account?.id ?? "";
  if (verified) await accounts.verifyAccount({ accountId });
  return accountId;
}

/** Creates an API key of an account and returns its id and text. */
export async function createApiKey(
  stack: Pick<TestStack, "client" | "database">,
  accountId: string,
): Promise<{ id: string; text: string }> {
  const keys = stack.client(ApiKeyService);
  // A test that wants several keys does not wait a minute for each.
  await stack.database.query("UPDATE account SET api_key_created_at = NULL WHERE id = ?", [
    accountId,
  ]);
  const { apiKey, secret } = await keys.createApiKey({
    accountId,
    name: "test",
    validityDays: 30,
  });
  return { id: apiKey?.id ?? "", text: secret };
}

/** Creates a verified account with a key. */
export async function createReader(
  stack: TestStack,
): Promise<{ accountId: string; apiKey: string; apiKeyId: string }> {
  const accountId = await createAccount(stack);
  const { id, text } = await createApiKey(stack, accountId);
  return { accountId, apiKey: text, apiKeyId: id };
}

/** Stores a paid donation and returns its record id and external id. */
export async function createPaidDonation(
  stack: TestStack,
  accountId: string,
  fields: { donorName?: string; message?: string; amountCents?: bigint; test?: boolean } = {},
): Promise<{ recordId: string; externalId: string }> {
  const donations = stack.client(DonationService);
  const externalId = unique("donation");
  await donations.createDonation({
    accountId,
    externalId,
    amountCents: 500n,
    currency: "eur",
    donatedAt: timestampNow(),
    ...fields,
  });
  const { donation } = await donations.payDonation({ accountId, externalId });
  return { recordId: donation?.recordId ?? "", externalId };
}

type PlatformEventFields = {
  externalId?: string;
  platform?: Platform;
  actorName?: string;
  message?: string;
  test?: boolean;
  kind?: NonNullable<MessageInitShape<typeof RecordPlatformEventRequestSchema>["kind"]>;
};

/** Stores a platform event, a follow on the first platform unless told otherwise. */
export async function createPlatformEvent(
  stack: TestStack,
  accountId: string,
  fields: PlatformEventFields = {},
): Promise<string> {
  const events = stack.client(PlatformEventService);
  const { platformEvent } = await events.recordPlatformEvent({
    accountId,
    platform: Platform.LIVE_PLATFORM_1,
    externalId: unique("event"),
    kind: { case: "follow", value: {} },
    ...fields,
  });
  return platformEvent?.recordId ?? "";
}

/** Imports `count` donations at once, all of which share their time of storage; returns how many. */
export async function importDonations(
  stack: TestStack,
  accountId: string,
  count: number,
  platform = Platform.CSV,
): Promise<number> {
  const rows = Array.from({ length: count }, () => ({
    externalId: unique("row"),
    amountCents: 100n,
    currency: "eur",
    donatedAt: timestampNow(),
  }));
  async function* steps() {
    const opening = { accountId, platform };
    yield { step: { case: "opening" as const, value: opening } };
    yield { step: { case: "rows" as const, value: { rows } } };
  }
  let stored = 0;
  for await (const answer of stack.client(ImportService).importDonations(steps())) {
    stored = Number(answer.stored);
  }
  return stored;
}
