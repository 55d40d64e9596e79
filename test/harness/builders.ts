import { randomBytes } from "node:crypto";
import * as proto from "@activity/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampNow } from "@bufbuild/protobuf/wkt";
import type { Clients } from "./clients.ts";
import type { TestDatabase } from "./database.ts";

/** What builders need: clients with every permission. */
export type Built = { readonly client: Clients };
/** With the database, `createApiKey` resets the limit of one new API key a minute. */
type Keyed = Built & { readonly database?: Pick<TestDatabase, "query"> };

export const ALL_KINDS = [
  proto.WebhookEventKind.DONATION_CREATED,
  proto.WebhookEventKind.DONATION_REFUNDED,
  proto.WebhookEventKind.DONATION_CHARGEBACK,
  proto.WebhookEventKind.SUBSCRIPTION_CREATED,
];

/** Returns a name that no other call returns. */
export const unique = (prefix: string) => `${prefix}-${randomBytes(6).toString("hex")}`;

/** Creates an account, by default verified. Returns its id. */
export async function createAccount(
  { client }: Built,
  { verified = true, displayName = "Streamer ★" } = {},
): Promise<string> {
  const names = { externalId: unique("account"), username: unique("user"), displayName };
  const { account } = await client(proto.AccountService).putAccount(names);
  const accountId = account?.id ?? "";
  if (verified) await client(proto.AccountService).verifyAccount({ accountId });
  return accountId;
}

export async function createApiKey({ client, database }: Keyed, accountId: string) {
  await database?.query("UPDATE account SET api_key_created_at = NULL WHERE id = ?", [accountId]);
  const key = { accountId, name: "test", validityDays: 30 };
  const { apiKey, secret } = await client(proto.ApiKeyService).createApiKey(key);
  return { id: apiKey?.id ?? "", text: secret };
}

export async function createReader(stack: Keyed) {
  const accountId = await createAccount(stack);
  const { id, text } = await createApiKey(stack, accountId);
  return { accountId, apiKey: text, apiKeyId: id };
}

/** Creates an endpoint, by default for every kind. */
export async function createEndpoint(
  { client }: Built,
  accountId: string,
  url = "https://example.com/hook",
  kinds: readonly proto.WebhookEventKind[] = ALL_KINDS,
) {
  const created = { accountId, url, kinds: { kinds: [...kinds] } };
  const { endpoint, secret } = await client(proto.EndpointService).createEndpoint(created);
  return { endpointId: endpoint?.id ?? "", secret };
}

/** Stores a paid donation. Returns its record id and external id. */
export async function createPaidDonation(
  { client }: Built,
  accountId: string,
  fields: { donorName?: string; message?: string; amountCents?: bigint; test?: boolean } = {},
): Promise<{ recordId: string; externalId: string }> {
  const key = { accountId, externalId: unique("donation") };
  const money = { amountCents: 500n, currency: "eur", donatedAt: timestampNow() };
  await client(proto.DonationService).createDonation({ ...key, ...money, ...fields });
  const { donation } = await client(proto.DonationService).payDonation(key);
  return { recordId: donation?.recordId ?? "", externalId: key.externalId };
}

/** Stores a platform event, by default a follow on the first platform. Returns its record id. */
export async function createPlatformEvent(
  { client }: Built,
  accountId: string,
  fields: Omit<MessageInitShape<typeof proto.RecordPlatformEventRequestSchema>, "$typeName"> = {},
): Promise<string> {
  const { platformEvent } = await client(proto.PlatformEventService).recordPlatformEvent({
    ...{ accountId, platform: proto.Platform.LIVE_PLATFORM_1, externalId: unique("event") },
    kind: { case: "follow", value: {} },
    ...fields,
  });
  return platformEvent?.recordId ?? "";
}

type ImportedRow = {
  externalId: string;
  donorName?: string;
  message?: string;
  donatedAt?: Timestamp;
};

/**
 * Imports `given` donations, or these rows, in one batch, so all get the same `recorded_at`. Returns how many were
 * stored.
 */
export async function importDonations(
  { client }: Built,
  accountId: string,
  given: number | readonly ImportedRow[],
  platform: proto.Platform = proto.Platform.CSV,
): Promise<number> {
  const money = { amountCents: 100n, currency: "eur", donatedAt: timestampNow() };
  const named: readonly ImportedRow[] =
    typeof given === "number"
      ? Array.from({ length: given }, () => ({ externalId: unique("row") }))
      : given;
  const rows = named.map((row) => ({ ...money, ...row }));
  async function* steps() {
    yield { step: { case: "opening" as const, value: { accountId, platform } } };
    yield { step: { case: "rows" as const, value: { rows } } };
  }
  let stored = 0;
  for await (const answer of client(proto.ImportService).importDonations(steps())) {
    stored = Number(answer.stored);
  }
  return stored;
}
