const NAME = "opened-session";

/** Tells the other tabs that this tab has replaced the browser's session by one of this account. */
export function tellOpenedSession(accountId: string): void {
  const channel = new BroadcastChannel(NAME);
  channel.postMessage(accountId);
  channel.close();
}

/** Calls `onOpened` with the account of each session that another tab opens. Returns the function that ends this. */
export function onOpenedSession(onOpened: (accountId: string) => void): () => void {
  try {
    const channel = new BroadcastChannel(NAME);
    channel.addEventListener("message", ({ data }) => onOpened(String(data)));
    return () => channel.close();
  } catch {
    // Firefox has no channels in an embedded page without storage.
    return () => undefined;
  }
}
