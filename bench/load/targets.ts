import type { WebhookEventKind } from "@activity/proto";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import pLimit from "p-limit";
import type { Clients } from "../../tools/demo/demo-account.ts";

/** A donation of an account. */
type DonationKey = { readonly accountId: string; readonly externalId: string };

/** Creates numbered accounts through the core. Returns their ids. */
export function makeAccounts({ accounts }: Clients, prefix: string, count: number) {
  const names = Array.from({ length: count }, (_, place) => `${prefix}_${place}`);
  return eachConcurrently(names, async (name) => {
    const profile = { externalId: name, username: name, displayName: name };
    const { account } = await accounts.putAccount(profile);
    return account?.id ?? "";
  });
}

/** Creates accounts with an endpoint each, for events of one kind. All endpoints are on this machine. */
export async function makeTargets(
  clients: Clients,
  host: string,
  kind: WebhookEventKind,
  prefix: string,
  count: number,
): Promise<string[]> {
  const accountIds = await makeAccounts(clients, prefix, count);
  await eachConcurrently(accountIds, (accountId) => {
    const url = `https://${host}/hooks/${accountId}`;
    return clients.endpoints.createEndpoint({ accountId, url, kinds: { kinds: [kind] } });
  });
  return accountIds;
}

/** Returns donation keys, which belong to the accounts in turn. `name` makes the keys unique. */
export function donationKeys(accountIds: readonly string[], count: number, name: string) {
  return Array.from({ length: count }, (_, place): DonationKey => {
    const externalId = `${name}-${String(place).padStart(12, "0")}`;
    return { accountId: accountIds[place % accountIds.length] ?? "", externalId };
  });
}

/** Creates a donation without paying it. */
export async function createDonation({ donations }: Clients, key: DonationKey) {
  const donation = { amountCents: 500n, currency: "eur", donatedAt: timestampNow() };
  await donations.createDonation({ ...key, ...donation });
}

/** Creates and pays donations, some concurrently. Each is two calls and one event to one endpoint. */
export function donate(clients: Clients, keys: readonly DonationKey[]) {
  return eachConcurrently(keys, async (key) => {
    await createDonation(clients, key);
    await clients.donations.payDonation(key);
  });
}

/** Runs `work` for all items, some concurrently. Returns the results in the items' order. */
export function eachConcurrently<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
  atOnce = 50,
): Promise<Result[]> {
  return pLimit(atOnce).map(items, work);
}
