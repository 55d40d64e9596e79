import { OTHER_DECIMALS } from "@activity/proto/currency-decimals";
import { accepted, type Parsed, refused } from "./parsed.ts";

// ISO 4217: active codes, and codes withdrawn since 2010, which older files still use.
const TWO_DECIMALS =
  "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD " +
  "CAD CDF CHE CHF CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD EEK EGP ERN ETB EUR FJD FKP GBP " +
  "GEL GHS GIP GMD GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP " +
  "LKR LRD LSL LTL LVL MAD MDL MGA MKD MMK MNT MOP MRO MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO " +
  "NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD " +
  "SSP STD STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VEF VES WST XCD " +
  "XCG YER ZAR ZMK ZMW ZWG ZWL";

/** The number of decimals of each currency. */
const EXPONENTS: ReadonlyMap<string, number> = new Map([
  ...TWO_DECIMALS.split(" ").map((code): [string, number] => [code.toLowerCase(), 2]),
  ...OTHER_DECIMALS,
]);

const DOLLARS =
  "usd aud cad nzd sgd hkd twd mxn ars clp cop uyu jmd ttd bsd bbd bzd bnd fjd xcd kyd bmd";

/** Signs and names that people write instead of a code, in lower case. Several currencies share some of them. */
const SIGNS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    "€": "eur",
    euro: "eur",
    euros: "eur",
    "£": "gbp",
    $: DOLLARS,
    us$: "usd",
    $us: "usd",
    a$: "aud",
    au$: "aud",
    c$: "cad",
    ca$: "cad",
    nz$: "nzd",
    s$: "sgd",
    hk$: "hkd",
    nt$: "twd",
    mx$: "mxn",
    r$: "brl",
    "¥": "jpy cny",
    "￥": "jpy cny",
    円: "jpy",
    元: "cny",
    "fr.": "chf",
    sfr: "chf",
    "sfr.": "chf",
    kr: "sek nok dkk isk",
    "kr.": "sek nok dkk isk",
    zł: "pln",
    kč: "czk",
    ft: "huf",
    lei: "ron",
    "₺": "try",
    "₽": "rub",
    "₴": "uah",
    "₹": "inr",
    "₩": "krw",
    "₪": "ils",
    "฿": "thb",
    "₫": "vnd",
    "₱": "php",
    "₦": "ngn",
    "₸": "kzt",
  }).map(([sign, codes]) => [sign, codes.split(" ")]),
);

/** Returns the number of decimals of a currency, or `undefined` for an unknown code. The code is in lower case. */
export function findExponent(code: string): number | undefined {
  return EXPONENTS.get(code);
}

/** Returns the lower-case codes that a written code or sign can mean, or an empty list. */
export function currenciesOf(written: string): readonly string[] {
  const text = written.normalize("NFC").toLowerCase();
  if (EXPONENTS.has(text)) return [text];
  return SIGNS.get(text) ?? [];
}

/**
 * Decides a row's currency from its cells and `--currency`. Each cell lists the codes that it can mean. The option
 * decides if no cell names a currency, or if several remain.
 */
export function settleCurrency(
  said: readonly (readonly string[])[],
  fallback: string | undefined,
): Parsed<string> {
  const [first, ...rest] = said;
  if (first === undefined) {
    if (fallback !== undefined) return accepted(fallback);
    return refused(
      'currency: none is given; add --column currency="NAME" if a column holds it, otherwise --currency, for example --currency eur',
    );
  }
  const possible = first.filter((code) => rest.every((codes) => codes.includes(code)));
  if (possible.length === 0) {
    return refused("currency: the row names two different ones");
  }
  const [only] = possible;
  if (only !== undefined && possible.length === 1) return accepted(only);
  if (fallback !== undefined && possible.includes(fallback)) return accepted(fallback);
  // Does not advise another --currency, because rows that were stored with this one would be stored again, in another
  // currency.
  return refused(
    fallback === undefined
      ? "currency: several share this sign; add --currency to say which one is meant"
      : "currency: several share this sign; write the code instead of it, such as USD",
  );
}
