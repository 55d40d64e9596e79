import type { WebhookEventKind } from "@activity/proto";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { Clients } from "../stack/dev-stack.ts";

/** What is done at the same time. */
const AT_ONCE = 50;

/** Makes accounts through the core, named and numbered; returns their ids. */
export function makeAccounts({ accounts }: Clients, prefix: string, count: number) {
  const names = Array.from({ length: count }, (_, place) => `${prefix}_${place}`);
  return eachConcurrently(names, async (name) => {
    const profile = { externalId: name, username: name, displayName: name };
    const { account } = await accounts.putAccount(profile);
    return account?.id ?? "";
  });
}

/** Makes accounts with an endpoint each for events of one kind; all are at one host, for there is one machine. */
export async function makeTargets(
  clients: Clients,
  receiver: { readonly target: string },
  kind: WebhookEventKind,
  prefix: string,
  count: number,
): Promise<string[]> {
  const accountIds = await makeAccounts(clients, prefix, count);
  await eachConcurrently(accountIds, (accountId) => {
    const url = `https://${receiver.target}/hooks/${accountId}`;
    return clients.endpoints.createEndpoint({ accountId, url, kinds: { kinds: [kind] } });
  });
  return accountIds;
}

/** Which donation of which account. */
export type DonationKey = { readonly accountId: string; readonly externalId: string };
/** What a donation may have beside its amount. */
export type DonationText = { readonly donorName?: string; readonly message?: string };

/** Returns the keys of donations of accounts in turn; the name tells them from all others. */
export function donationKeys(
  accountIds: readonly string[],
  count: number,
  name: string,
): DonationKey[] {
  return Array.from({ length: count }, (_, place) => ({
    accountId: accountIds[place % accountIds.length] ?? "",
    externalId: `${name}-${String(place).padStart(12, "0")}`,
  }));
}

/** Creates a donation, to be paid. */
export async function createDonation({ donations }: Clients, key: DonationKey, text: DonationText) {
  const donation = { amountCents: 500n, currency: "eur", donatedAt: timestampNow() };
  await donations.createDonation({ ...key, ...donation, ...text });
}

/** Creates donations and pays them, some concurrently: each is two calls, and one event to one endpoint. */
export async function donate(
  clients: Clients,
  keys: readonly DonationKey[],
  text: DonationText = {},
): Promise<void> {
  await eachConcurrently(keys, async (key) => {
    await createDonation(clients, key, text);
    await clients.donations.payDonation(key);
  });
}

/** Runs `work` for all items, some of them concurrently; returns the results in the items' order. */
export async function eachConcurrently<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
  atOnce = AT_ONCE,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  const loop = async () => {
    for (const [place, item] of left) results[place] = await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
  return results;
}
