import { isConnectionLost } from "../database/outage.ts";
import type { DeliveryKey } from "./run-key.ts";

/**
 * Runs a statement on entries (at least one). If one shard refuses or is away, repeats it account by account until
 * `isLate`, so that it changes the entries of the other shards. Returns the last error if it changed none. Rejects if
 * the database cannot be reached. ADR 0048
 */
export async function byAccount(
  keys: readonly DeliveryKey[],
  run: (keys: readonly DeliveryKey[]) => Promise<unknown>,
  isLate: () => boolean,
): Promise<unknown> {
  let refusal: unknown;
  const isDone = async (some: readonly DeliveryKey[]) => {
    try {
      await run(some);
      return true;
    } catch (error) {
      if (isConnectionLost(error)) throw error;
      refusal = error;
      return false;
    }
  };
  if (await isDone(keys)) return undefined;
  const accounts = [...Map.groupBy(keys, ({ accountNo }) => accountNo).values()];
  if (accounts.length === 1) return refusal;
  let isAnyDone = false;
  for (const own of accounts) if (!isLate() && (await isDone(own))) isAnyDone = true;
  return isAnyDone ? undefined : refusal;
}
