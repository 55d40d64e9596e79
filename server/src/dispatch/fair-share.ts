import type { DeliveryKey } from "./run-key.ts";

/** The claimable entries of one endpoint, in the order of `listClaimable`. */
export type Queue = {
  readonly accountNo: number;
  readonly endpointId: string;
  readonly deliveryIds: readonly string[];
};

/**
 * Takes at most `limit` entries round-robin by account, and within each account by endpoint. `random` returns a number
 * from 0 to 1, which chooses who comes first. With a fixed order the same queues would always come last.
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

function rotated<Item>(items: readonly Item[], fraction: number): Item[] {
  const first = Math.floor(fraction * items.length);
  return [...items.slice(first), ...items.slice(0, first)];
}

/** Takes the first of each list, then the second of each, and so on. */
function roundRobin<Item>(lists: readonly (readonly Item[])[]): Item[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, position) =>
    lists.flatMap((list) => list.slice(position, position + 1)),
  ).flat();
}
