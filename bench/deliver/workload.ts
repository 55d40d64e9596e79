import { WebhookEventKind } from "@activity/proto";
import type { Clients } from "../../tools/stack/demo.ts";

/** An account with an endpoint at the receiver. */
export type Target = { readonly accountId: string; readonly endpointId: string };

/** What writes at the same time. */
const AT_ONCE = 50;

/** Makes accounts with an endpoint each; all are at one host, because they are on one machine. */
export async function makeTargets(
  { accounts, endpoints }: Clients,
  receiver: string,
  names: readonly string[],
): Promise<Target[]> {
  return inLanes(names, async (name) => {
    const profile = { externalId: name, username: name, displayName: name };
    const { account } = await accounts.putAccount(profile);
    const accountId = account?.id ?? "";
    const { endpoint } = await endpoints.createEndpoint({
      accountId,
      url: `https://${receiver}/hooks/${name}`,
      kinds: { kinds: [WebhookEventKind.DONATION_CREATED] },
    });
    return { accountId, endpointId: endpoint?.id ?? "" };
  });
}

/** Commits events to the targets in turn; returns their deliveries' ids. */
export async function writeEvents(
  { endpoints }: Clients,
  targets: readonly Target[],
  count: number,
): Promise<string[]> {
  const turns = Array.from({ length: count }, (_, index) => targets[index % targets.length]);
  return inLanes(turns, async (target) => {
    if (target === undefined) throw new Error("there is nobody to write to");
    return (await endpoints.sendTest(target)).deliveryId;
  });
}

/** Runs `work` for all items, so many at once; the results keep the items' order. */
export async function inLanes<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  const lane = async () => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return results;
}
