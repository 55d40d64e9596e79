/** Accounts by size: what share of all events the account of each rank, from 0 on, has. */
export type Shares = Float64Array;

/** Returns the shares of accounts of which the n-th largest has 1/n^exponent as many events as the largest. */
export function zipfShares(accounts: number, exponent: number): Shares {
  const weights = Float64Array.from({ length: accounts }, (_, rank) => (rank + 1) ** -exponent);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

/** Returns what draws the rank of the account of an event. */
export function rankDraw(shares: Shares, random: () => number): () => number {
  let sum = 0;
  const upTo = shares.map((share) => {
    sum += share;
    return sum;
  });
  return () => {
    const wanted = random() * sum;
    let [low, high] = [0, upTo.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((upTo[middle] ?? 0) > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
