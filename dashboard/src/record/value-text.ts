import { type Activity, Unit } from "@activity/proto";
import { LOCALE, texts } from "../texts.ts";

/** The currencies of ISO 4217 without two decimals. `Intl` follows custom: it gives the Hungarian forint none. */
const DECIMALS = new Map([
  ...withDecimals("BIF BYR CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF", 0),
  ...withDecimals("BHD IQD JOD KWD LYD OMR TND", 3),
  ...withDecimals("CLF UYW", 4),
]);

/** Returns the value of an activity, such as `€5.00` or `3 months`; empty if it has none. */
export function valueText({ value, unit, currency }: Activity): string {
  const count = Number(value);
  switch (unit) {
    case Unit.CENTS:
      return amountText(count, currency);
    case Unit.MONTHS:
      return texts.activity.months(count);
    case Unit.SUBSCRIPTIONS:
      return texts.activity.subscriptions(count);
    case Unit.BITS:
      return texts.activity.bits(count);
    case Unit.DIAMONDS:
      return texts.activity.diamonds(count);
    case Unit.VIEWERS:
      return texts.activity.viewers(count);
    default:
      return "";
  }
}

/** Formats an amount in the currency's smallest unit: cents of a euro, whole yen. */
export function amountText(amount: number, currency: string | undefined): string {
  if (currency === undefined || !/^[a-z]{3}$/i.test(currency)) return String(amount);
  const digits = DECIMALS.get(currency.toUpperCase()) ?? 2;
  const decimals = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const format = new Intl.NumberFormat(LOCALE, { style: "currency", currency, ...decimals });
  return format.format(amount / 10 ** digits);
}

function withDecimals(codes: string, digits: number): [string, number][] {
  return codes.split(" ").map((code) => [code, digits]);
}
