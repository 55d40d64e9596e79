import { useEffect, useState } from "react";

/**
 * Keeps the reader on a page that shows something only once. Returns how often they tried to leave. The browser asks
 * before it closes the tab or opens another site. A browser without `navigation` does not block links.
 */
export function useHold(isHeld: boolean): number {
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (!isHeld) return;
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
    return () => end.abort();
  }, [isHeld]);
  return isHeld ? tries : 0;
}
