const NAME = "opened-session";

/** Tells the other tabs that this tab has replaced the browser's session by one of this account. */
export function tellOpenedSession(accountId: string): void {
  const channel = openChannel();
  channel?.postMessage(accountId);
  channel?.close();
}

/** Calls `onOpened` with the account of each session that another tab opens. Returns the function that ends this. */
export function onOpenedSession(onOpened: (accountId: string) => void): () => void {
  const channel = openChannel();
  channel?.addEventListener("message", ({ data }) => onOpened(String(data)));
  return () => channel?.close();
}

/** Returns `undefined` in an embedded page without storage, where Firefox has no channels. */
function openChannel(): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(NAME);
  } catch {
    return undefined;
  }
}
