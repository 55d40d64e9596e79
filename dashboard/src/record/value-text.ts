import { type Activity, Unit } from "@activity/proto";
import { OTHER_DECIMALS } from "@activity/proto/currency-decimals";
import type { UnknownEnum } from "@bufbuild/protobuf";
import { LOCALE, texts } from "../texts.ts";

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
    case Unit.NONE:
    case Unit.UNSPECIFIED:
      return "";
    default:
      unit satisfies UnknownEnum; // Only a newer core has more units than these.
      return "";
  }
}

/** Formats an amount in the currency's smallest unit: cents of a euro, whole yen. */
export function amountText(amount: number, currency: string | undefined): string {
  if (currency === undefined || !/^[a-z]{3}$/i.test(currency)) return String(amount);
  const digits = OTHER_DECIMALS.get(currency.toLowerCase()) ?? 2;
  const decimals = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const format = new Intl.NumberFormat(LOCALE, { style: "currency", currency, ...decimals });
  // A text such as `500E-2` is exact. The quotient of a large amount is not.
  return format.format(`${amount}E-${digits}` as Intl.StringNumericLiteral);
}
