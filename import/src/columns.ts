import { ImportError } from "./import-error.ts";

/** The roles of columns. */
export const ColumnRole = {
  Id: "id",
  Amount: "amount",
  AmountCents: "amount_cents",
  Currency: "currency",
  Name: "name",
  Message: "message",
  Date: "date",
  Time: "time",
} as const;
export type ColumnRole = (typeof ColumnRole)[keyof typeof ColumnRole];

/** The index of each column in a row, from 0. A role without a column in the file has no entry. */
export type Columns = { readonly [Role in ColumnRole]?: number };

/** The header names that a person gave for roles. An empty name means that the role has no column. */
export type ColumnOverrides = { readonly [Role in ColumnRole]?: string };

/**
 * The names of each role, as `normalize` returns them. They are those of English and German exports, and PayPal's
 * Dutch, French and Spanish names of amounts, currencies, dates and times. If a file has several names of a role, the
 * first in this list counts.
 */
const SPELLINGS: Readonly<Record<ColumnRole, readonly string[]>> = {
  id: [
    ...["external id", "transaction id", "transactionid", "donation id", "payment id", "order id"],
    ...["transaktionscode", "transaktions id", "transaktionsnummer", "spenden id", "bestellnummer"],
    ...["reference", "referenz", "id"],
  ],
  amount: [
    ...["amount", "donation amount", "tip amount", "gross amount", "gross", "total"],
    ...["betrag", "spendenbetrag", "bruttobetrag", "brutto", "summe", "bruto", "avant commission"],
  ],
  amount_cents: ["amount cents", "amount in cents", "cents", "betrag in cent", "cent"],
  currency: [
    ...["currency", "currency code", "währung", "waehrung", "währungscode"],
    ...["valuta", "devise", "divisa"],
  ],
  name: [
    ...["donor name", "donor", "supporter", "display name", "name", "from", "sender", "username"],
    ...["user name", "user", "nickname", "spendername", "spender", "absender", "anzeigename"],
    ...["benutzername", "nutzername", "von"],
  ],
  message: ["message", "comment", "note", "nachricht", "kommentar", "mitteilung", "notiz"],
  date: [
    ...["donated at", "paid at", "occurred at", "created at", "createdat", "timestamp", "datetime"],
    ...["date time", "date and time", "date/time", "created", "created date", "erstellt am"],
    ...["zeitstempel", "zeitpunkt", "datum/uhrzeit", "datum und uhrzeit"],
    ...["date", "datum", "fecha"],
  ],
  time: ["time", "uhrzeit", "zeit", "tijd", "heure", "hora"],
};
const ROLES = Object.values(ColumnRole);
/** Names of date columns whose time may be in a separate column. */
const BARE_DATES = new Set(["date", "datum", "fecha"]);
/** Ends the header of a column in UTC, as in `DateTime (UTC)`. */
const UTC_MARK = / ?\(utc\)$/;
const FIRST_LINE = "The header must be the first line.";

/** Returns whether a text names a role. */
export function isColumnRole(text: string): text is ColumnRole {
  return ROLES.some((role) => role === text);
}

/**
 * Finds the columns of a header. Case and a final `(UTC)` do not matter, and words may be separated by spaces, `_` or
 * `-`. If amount or date is missing, throws an ImportError that lists the found and the needed columns.
 */
export function recognizeColumns(
  header: readonly string[],
  overrides: ColumnOverrides = {},
): Columns {
  const names = header.map(normalize);
  const found: { [Role in ColumnRole]?: number } = {};
  for (const role of ROLES) {
    const override = overrides[role];
    const place =
      override === undefined
        ? findColumn(names, SPELLINGS[role])
        : findNamedColumn(header, `--column ${role}="${override}"`, override);
    if (place !== undefined) found[role] = place;
  }
  const columns = withOneAmount(withWholeDate(found, names, overrides), overrides);
  checkComplete(header, columns);
  return columns;
}

/** Returns whether the header says that the dates without an offset are in UTC. */
export function hasUtcDates(header: readonly string[], { date, time }: Columns): boolean {
  return [date, time].some((place) => place !== undefined && UTC_MARK.test(fold(header[place])));
}

/** Returns the place of a column that a person named in an option. Throws an ImportError if there is none. */
export function readColumnPlace(header: readonly string[], option: string, name: string): number {
  const exact = header.indexOf(name);
  const place = exact === -1 ? header.map(normalize).indexOf(normalize(name)) : exact;
  if (place !== -1) return place;
  throw new ImportError(
    `${option}: the file has no such column. ${foundText(header)} ${FIRST_LINE}`,
  );
}

function normalize(name: string): string {
  return fold(name).replace(UTC_MARK, "");
}

function fold(name = ""): string {
  return name
    .normalize("NFC")
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, " ");
}

function findColumn(names: readonly string[], spellings: readonly string[]): number | undefined {
  const present = spellings.find((spelling) => names.includes(spelling));
  if (present === undefined) return undefined;
  if (names.indexOf(present) !== names.lastIndexOf(present)) {
    throw new ImportError(
      `The header has two columns named "${present}": rename one of them in the file, or choose one with --column. A final (UTC) does not count.`,
    );
  }
  return names.indexOf(present);
}

function findNamedColumn(
  header: readonly string[],
  option: string,
  name: string,
): number | undefined {
  return name === "" ? undefined : readColumnPlace(header, option, name);
}

/**
 * Without a date column, makes "time" the date column. Drops a time column beside a whole date, unless a person named
 * it.
 */
function withWholeDate(
  found: Columns,
  names: readonly string[],
  overrides: ColumnOverrides,
): Columns {
  const { time, ...others } = found;
  if (time === undefined) return found;
  if (others.date === undefined && overrides.date === undefined) return { ...others, date: time };
  const isBare = others.date !== undefined && BARE_DATES.has(names[others.date] ?? "");
  return isBare || overrides.time !== undefined ? found : others;
}

/**
 * Keeps one column for the amount. A column that a person named counts, even if another header looks like an amount.
 */
function withOneAmount(found: Columns, overrides: ColumnOverrides): Columns {
  if (overrides.amount && overrides.amount_cents) {
    throw new ImportError(
      "--column names both amount and amount_cents: keep the one that matches the file's unit.",
    );
  }
  const { amount, amount_cents: cents, ...others } = found;
  const isCents = amount === undefined || overrides.amount_cents;
  return isCents ? withDefined(others, "amount_cents", cents) : { ...others, amount };
}

function withDefined(columns: Columns, role: ColumnRole, place: number | undefined): Columns {
  return place === undefined ? columns : { ...columns, [role]: place };
}

function checkComplete(header: readonly string[], columns: Columns): void {
  const missing: string[] = [];
  if (columns.amount === undefined && columns.amount_cents === undefined) missing.push("amount");
  if (columns.date === undefined) missing.push("date");
  if (missing.length === 0) return;
  const advice = missing.map((role) => `--column ${role}="NAME"`).join(" ");
  throw new ImportError(
    `The file has no column this program knows as ${missing.join(" or ")}. ${foundText(header)} ` +
      "Needed are an amount and a date; time, id, currency, name and message are optional. " +
      `Say which column it is with ${advice}. ${FIRST_LINE} ` +
      'Add --column time="NAME" if another column holds the time of day.',
  );
}

function foundText(header: readonly string[]): string {
  return `Its columns are: ${header.map((name) => `"${name}"`).join(", ")}.`;
}
