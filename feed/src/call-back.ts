/** Calls a function of the user. Its failure ends no follower, because followers share a request. */
export function callBack(name: string, call: () => void): void {
  try {
    call();
  } catch (error) {
    console.error(`@activity/feed: ${name} failed:`, error);
  }
}
