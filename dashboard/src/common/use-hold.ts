import { useEffect, useState } from "react";

let held = 0;
let waiting: (() => void) | undefined;

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
    addEventListener("beforeunload", (event) => event.preventDefault(), { signal });
    window.navigation?.addEventListener(
      "navigate",
      (event) => {
        const { sameDocument, url } = event.destination;
        if (!sameDocument || new URL(url).pathname === location.pathname) return;
        event.preventDefault();
        setTries((before) => before + 1);
      },
      { signal },
    );
    return () => {
      end.abort();
      release();
    };
  }, [isHeld]);
  return isHeld ? tries : 0;
}
