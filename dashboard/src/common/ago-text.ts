import { LOCALE, texts } from "../texts.ts";
import { DAY_MS } from "./clock.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * DAY_MS;
const WORDS = new Intl.RelativeTimeFormat(LOCALE, { style: "short" });

/** Returns an age in milliseconds as text, such as `5 min ago`. Returns `undefined` from one week on. */
export function agoText(milliseconds: number): string | undefined {
  if (milliseconds < MINUTE_MS) return texts.justNow;
  if (milliseconds < HOUR_MS) return WORDS.format(-Math.floor(milliseconds / MINUTE_MS), "minute");
  if (milliseconds < DAY_MS) return WORDS.format(-Math.floor(milliseconds / HOUR_MS), "hour");
  if (milliseconds < WEEK_MS) return WORDS.format(-Math.floor(milliseconds / DAY_MS), "day");
  return undefined;
}
