/**
 * Calls a function of the user, and logs its failure. Followers share requests, so the failure of one follower's
 * function must not end the others. No follower waits for it, so the promise may be ignored.
 */
export async function callBack(name: string, call: () => unknown): Promise<void> {
  try {
    await call();
  } catch (error) {
    console.error(`@activity/feed: ${name} failed:`, error);
  }
}
