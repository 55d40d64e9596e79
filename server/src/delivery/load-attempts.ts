import { createBatcher } from "../batcher.ts";
import type { Pool } from "../database/pool.ts";
import type { AttemptKey } from "./attempt-record-store.ts";
import { findAttempts, type LoadedAttempt } from "./attempt-store.ts";

const LARGEST_BATCH = 64;
/** More than all workers together have under way. */
const MOST_WAITING = 20_000;

/** Creates what loads attempts: those asked for while a statement is under way share the next one. */
export function createAttemptLoader(
  pool: Pool,
): (key: AttemptKey) => Promise<LoadedAttempt | undefined> {
  return createBatcher<AttemptKey, LoadedAttempt | undefined>({
    largest: LARGEST_BATCH,
    mostWaiting: MOST_WAITING,
    keyOf: () => undefined,
    run: (keys) => loadTogether(pool, keys),
  });
}

/** Deliveries that begin together are at the same attempt, mostly: each attempt number is a statement. */
async function loadTogether(
  pool: Pool,
  keys: readonly AttemptKey[],
): Promise<(LoadedAttempt | undefined)[]> {
  const groups = Map.groupBy(keys, nameOfGroup);
  const loads = [...groups].map(async ([name, group]) => {
    const [{ sequence, attempt } = { sequence: 0, attempt: 0 }] = group;
    const ids = group.map(({ deliveryId }) => deliveryId);
    return [name, await findAttempts(pool, ids, sequence, attempt)] as const;
  });
  const loaded = new Map(await Promise.all(loads));
  return keys.map((key) => loaded.get(nameOfGroup(key))?.get(key.deliveryId));
}

function nameOfGroup({ sequence, attempt }: AttemptKey): string {
  return `${sequence} ${attempt}`;
}
