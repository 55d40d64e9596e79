/** The deliveries of one account to one endpoint that wait, and how many more the endpoint may be given. */
export type Queue = {
  readonly accountNo: number;
  readonly endpointId: string;
  readonly room: number;
};

/** A queue, and how many of its entries to look at. */
export type Share = Queue & { readonly most: number };

/**
 * Chooses what to look at for a claim of `limit`: of each account an even share, of one account's queues
 * as many as its share can serve, others every turn.
 */
export function sharesOf(queues: readonly Queue[], limit: number, turn: number): Share[] {
  const byAccount = Map.groupBy(queues, ({ accountNo }) => accountNo);
  const perAccount = Math.ceil(limit / Math.max(1, byAccount.size));
  return [...byAccount.values()].flatMap((own) => {
    const first = turn % own.length;
    const chosen = [...own.slice(first), ...own.slice(0, first)].slice(0, perAccount);
    // Each might be the only one that has so many.
    return chosen.map((queue) => ({ ...queue, most: Math.min(queue.room, perAccount) }));
  });
}

/** An entry that could be claimed. */
export type Candidate = {
  readonly deliveryNo: number;
  readonly accountNo: number;
  readonly endpointId: string;
};

/** Picks at most `limit`: from the accounts in turn, and of an account from its endpoints in turn. */
export function pickEvenly(candidates: readonly Candidate[], limit: number): number[] {
  const byAccount = Map.groupBy(candidates, ({ accountNo }) => accountNo);
  const lists = [...byAccount.values()].map((own) =>
    inTurn([...Map.groupBy(own, ({ endpointId }) => endpointId).values()]),
  );
  return inTurn(lists)
    .slice(0, limit)
    .map(({ deliveryNo }) => deliveryNo);
}

/** The first of each list, then the second of each, and so on. */
function inTurn<Item>(lists: readonly (readonly Item[])[]): Item[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, position) =>
    lists.flatMap((list) => list.slice(position, position + 1)),
  ).flat();
}
