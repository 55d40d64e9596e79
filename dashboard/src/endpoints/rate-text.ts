import { LOCALE, texts } from "../texts.ts";

const PERCENT = new Intl.NumberFormat(LOCALE, { style: "percent", maximumFractionDigits: 1 });
const NOT_ALL = 0.999;

/** Writes a success rate; only what is all is written as 100 %. */
export function rateText(rate: number | undefined): string {
  if (rate === undefined) return texts.none;
  return PERCENT.format(rate < 1 ? Math.min(rate, NOT_ALL) : 1);
}
