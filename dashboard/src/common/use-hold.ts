import { useEffect, useState } from "react";

let held = 0;
let waiting: (() => void) | undefined;
/** For each hold, a function that returns to its page after the browser has left it. */
const returns = new Set<(event: Event) => void>();
// This listener must run before the router's, which shows the other page. Chromium calls the listeners of `popstate` in
// the order of their addition, even those that capture. So this one is added first.
addEventListener("popstate", (event) => {
  for (const comeBack of returns) comeBack(event);
});

/** Returns whether a page holds its reader. */
export const isHeld = (): boolean => held > 0;

/** Calls `leave` once no page holds its reader. A later call replaces one that waits. */
export function onceFree(leave: () => void): void {
  if (held === 0) leave();
  else waiting = leave;
}

function release(): void {
  held -= 1;
  // Waits for the end of React's commit, because another hold may begin in it.
  queueMicrotask(() => {
    if (held > 0) return;
    const leave = waiting;
    waiting = undefined;
    leave?.();
  });
}

/**
 * Keeps the reader on a page that shows something only once. Returns how often they tried to leave. The browser asks
 * before it closes the tab or opens another site.
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
    // In a browser without `navigation`, only the click shows that a link leaves.
    addEventListener(
      "click",
      (event) => {
        if (!isLeaving(event, pathname)) return;
        event.preventDefault();
        setTries((before) => before + 1);
      },
      { signal, capture: true },
    );
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
    // No page can prevent a step back in a frame, or a second one without a click in between. So the page comes back
    // after such a step.
    const comeBack = (event: Event) => {
      if (location.pathname === pathname) return;
      event.stopImmediatePropagation();
      history.pushState(null, "", href);
      setTries((before) => before + 1);
    };
    returns.add(comeBack);
    return () => {
      end.abort();
      returns.delete(comeBack);
      release();
    };
  }, [isHeld]);
  return isHeld ? tries : 0;
}

/** Returns whether a click opens another page of this site in this tab. */
function isLeaving(event: MouseEvent, pathname: string): boolean {
  const { ctrlKey, metaKey, altKey, shiftKey, button, target } = event;
  if (ctrlKey || metaKey || altKey || shiftKey || button !== 0) return false;
  const link = target instanceof Element ? target.closest("a") : null;
  if (link === null || link.hasAttribute("download")) return false;
  if (link.target !== "" && link.target !== "_self") return false;
  return link.origin === location.origin && link.pathname !== pathname;
}
