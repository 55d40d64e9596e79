import { useEffect, useState } from "react";

/**
 * Keeps the reader on a page that shows what cannot be shown again; returns how often they were about to leave it. The
 * browser asks before the tab is closed or another site opened. Browsers without `navigation` follow links all the same.
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
