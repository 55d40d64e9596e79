import { useEffect, useState } from "react";

const SECOND_MS = 1_000;
export const DAY_MS = 86_400_000;

/** Returns the time of the reader's clock, in milliseconds since 1970. */
export function nowMs(): number {
  return Date.now();
}

/** Returns the current time, and renders again every `everyMs`. */
export function useNowMs(everyMs = SECOND_MS): number {
  const [now, setNow] = useState(nowMs);
  useEffect(() => {
    const timer = setInterval(() => setNow(nowMs()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
