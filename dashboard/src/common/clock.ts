import { useEffect, useState } from "react";

const SECOND_MS = 1_000;
export const DAY_MS = 86_400_000;

/** The time of the reader's clock, in milliseconds since 1970. */
export function nowMs(): number {
  return Date.now();
}

/** The same, again every second or as told. */
export function useNowMs(everyMs = SECOND_MS): number {
  const [now, setNow] = useState(nowMs);
  useEffect(() => {
    const timer = setInterval(() => setNow(nowMs()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
