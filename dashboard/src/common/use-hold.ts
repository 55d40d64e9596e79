import { useEffect, useState } from "react";

let held = 0;
let waiting: (() => void) | undefined;

/** Returns whether a page holds its reader. */
export const isHeld = (): boolean => held > 0;

/** Calls `leave` once no page holds its reader. A later call replaces one that waits. */
export function onceFree(leave: () => void): void {
  if (held === 0) leave();
  else waiting = leave;
}

function release(): void {
  held -= 1;
  // Another hold may begin in the same commit, after this one ended.
  queueMicrotask(() => {
    if (held > 0) return;
    const leave = waiting;
    waiting = undefined;
    leave?.();
  });
}

/**
 * Keeps the reader on a page that shows something only once. Returns how often they tried to leave. The browser asks
 * before it closes the tab or opens another site. A browser without `navigation` does not block links.
 */
export function useHold(isHeld: boolean): number {
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (!isHeld) return;
    held += 1;
    const end = new AbortController();
    const { signal } = end;
    const { href, pathname } = location;
    addEventListener("beforeunload", (event) => event.preventDefault(), { signal });
    window.navigation?.addEventListener(
      "navigate",
      (event) => {
        const { sameDocument, url } = event.destination;
        if (!sameDocument || new URL(url).pathname === pathname) return;
        event.preventDefault();
        setTries((before) => before + 1);
      },
      { signal },
    );
    // A browser refuses no way back in a frame, and no second one without a click between. So the page comes back. This
    // listener is first, because the router's would show the other page.
    addEventListener(
      "popstate",
      (event) => {
        if (location.pathname === pathname) return;
        event.stopImmediatePropagation();
        history.pushState(null, "", href);
        setTries((before) => before + 1);
      },
      { signal, capture: true },
    );
    return () => {
      end.abort();
      release();
    };
  }, [isHeld]);
  return isHeld ? tries : 0;
}
