// Four deletions for each added id: old ids are deleted faster than new ones are added.
const HANDLED_PER_CLEAN_UP = 64;
const DELETIONS_PER_CLEAN_UP = 256;

/**
 * Creates a function to call after each handled event. With a chance of 1 in 64, that function deletes some expired
 * ids. It does not count events, because a counter would never reach 64 in an instance that handles only a few.
 * `random` returns a number from 0 to 1.
 */
export function createCleanUp(
  store: { deleteExpired(limit: number): Promise<number> },
  random: () => number = Math.random,
): () => Promise<void> {
  return async () => {
    if (random() >= 1 / HANDLED_PER_CLEAN_UP) return;
    // The event is done even if the deletion fails.
    await store.deleteExpired(DELETIONS_PER_CLEAN_UP).catch(() => {});
  };
}
