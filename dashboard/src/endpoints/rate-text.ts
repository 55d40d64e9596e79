import { LOCALE, texts } from "../texts.ts";

const PERCENT = new Intl.NumberFormat(LOCALE, { style: "percent", maximumFractionDigits: 1 });
const NOT_ALL = 0.999;

/** Formats a success rate. Only a rate of 1 is shown as 100 %. */
export function rateText(rate: number | undefined): string {
  if (rate === undefined) return texts.none;
  return PERCENT.format(rate < 1 ? Math.min(rate, NOT_ALL) : 1);
}
