// Four deletions for each id that is added: old ids go faster than new ones come.
const HANDLED_PER_CLEAN_UP = 64;
const DELETIONS_PER_CLEAN_UP = 256;

/**
 * Creates a function to call after each handled event: one time in 64, by chance, it deletes some old ids. A counter
 * would never come that far in functions that live for a few events. `random` returns a number from 0 to 1.
 */
export function createCleanUp(
  store: { deleteExpired(limit: number): Promise<number> },
  random: () => number = Math.random,
): () => Promise<void> {
  return async () => {
    if (random() >= 1 / HANDLED_PER_CLEAN_UP) return;
    // The event is done whether or not the cleaning up worked.
    await store.deleteExpired(DELETIONS_PER_CLEAN_UP).catch(() => {});
  };
}
