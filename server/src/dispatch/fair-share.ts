import type { DeliveryKey } from "./run-key.ts";

/** The entries of one endpoint that can be claimed, oldest first. */
export type Queue = {
  readonly accountNo: number;
  readonly endpointId: string;
  readonly deliveryIds: readonly string[];
};

/**
 * Takes at most `limit` entries round-robin: over the accounts, and over the endpoints of each. `random`,
 * from 0 to 1, draws who comes first, so that with more queues than entries to take nobody is always last.
 */
export function takeRoundRobin(
  queues: readonly Queue[],
  limit: number,
  random: () => number,
): DeliveryKey[] {
  const byAccount = Map.groupBy(queues, ({ accountNo }) => accountNo);
  const ofAccounts = [...byAccount.values()].map((own) => {
    const ofEndpoints = own.map(({ accountNo, deliveryIds }) =>
      deliveryIds.map((deliveryId) => ({ accountNo, deliveryId })),
    );
    return roundRobin(rotated(ofEndpoints, random()));
  });
  return roundRobin(rotated(ofAccounts, random())).slice(0, limit);
}

function rotated<Item>(items: readonly Item[], share: number): Item[] {
  const first = Math.floor(share * items.length);
  return [...items.slice(first), ...items.slice(0, first)];
}

/** The first of each list, then the second of each, and so on. */
function roundRobin<Item>(lists: readonly (readonly Item[])[]): Item[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, position) =>
    lists.flatMap((list) => list.slice(position, position + 1)),
  ).flat();
}
