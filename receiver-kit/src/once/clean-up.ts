// Four deletions for each id that is added: old ids go faster than new ones come.
const HANDLED_PER_CLEAN_UP = 64;
const DELETIONS_PER_CLEAN_UP = 256;

/** Creates a function to call after each handled event: now and then it deletes some old ids. */
export function createCleanUp(store: {
  deleteExpired(limit: number): Promise<number>;
}): () => Promise<void> {
  let handled = 0;
  return async () => {
    handled += 1;
    if (handled % HANDLED_PER_CLEAN_UP !== 0) return;
    // The event is done whether or not the cleaning up worked.
    await store.deleteExpired(DELETIONS_PER_CLEAN_UP).catch(() => {});
  };
}
