// On average, a clean-up comes after 64 handled events and may delete four times as many ids. So old ids cannot pile
// up.
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
    // A failure is ignored, because the event is done all the same.
    await store.deleteExpired(DELETIONS_PER_CLEAN_UP).catch(() => {});
  };
}
