/**
 * Calls a function of the user. Its failure ends no follower, because followers share a request. No follower waits for
 * it, so the promise may be ignored.
 */
export async function callBack(name: string, call: () => unknown): Promise<void> {
  try {
    await call();
  } catch (error) {
    console.error(`@activity/feed: ${name} failed:`, error);
  }
}
