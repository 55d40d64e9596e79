import type { WebhookEventKind } from "@activity/proto";
import type { Clients } from "../../dev-stack/src/demo.ts";

/** An account with an endpoint at the receiver. */
export type Target = { readonly accountId: string; readonly endpointId: string };

/** What writes at the same time. */
const AT_ONCE = 50;

/** Makes accounts through the core; returns their ids. */
export function makeAccounts({ accounts }: Clients, names: readonly string[]): Promise<string[]> {
  return concurrently(names, async (name) => {
    const profile = { externalId: name, username: name, displayName: name };
    const { account } = await accounts.putAccount(profile);
    return account?.id ?? "";
  });
}

/** Makes accounts with an endpoint each for events of one kind; all are at one host, because they are on one machine. */
export async function makeTargets(
  clients: Clients,
  receiver: string,
  names: readonly string[],
  kind: WebhookEventKind,
): Promise<Target[]> {
  const accountIds = await makeAccounts(clients, names);
  return concurrently(accountIds, async (accountId) => {
    const { endpoint } = await clients.endpoints.createEndpoint({
      accountId,
      url: `https://${receiver}/hooks/${accountId}`,
      kinds: { kinds: [kind] },
    });
    return { accountId, endpointId: endpoint?.id ?? "" };
  });
}

/** Runs `work` for all items, some of them concurrently; the results keep the items' order. */
export async function concurrently<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  const loop = async () => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, loop));
  return results;
}
