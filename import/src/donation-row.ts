import { type Amount, parseAmountCents, parseAmountText, settleAmount } from "./amount.ts";
import type { Columns } from "./columns.ts";
import type { DateOrder, Moment } from "./date-text.ts";
import type { DerivedIds } from "./derived-ids.ts";
import { parseDonationDate } from "./donation-date.ts";
import { type DecimalMark, needsDecimalMark } from "./number-text.ts";
import { accepted, type Parsed, refused } from "./parsed.ts";
import { MAX_BYTES, rowBytes } from "./row-bytes.ts";
import type { TimeZone } from "./time-zone.ts";

/** A donation as read from its row. */
export type Donation = Amount & {
  readonly externalId: string;
  readonly donorName: string | undefined;
  readonly message: string | undefined;
  readonly donatedAt: Moment;
};

/** How to read the cells of a file. */
export type RowRules = {
  readonly columns: Columns;
  /** The number of cells in a row. */
  readonly width: number;
  /** The place of the column with each row's line in the first file, if this is a file of refused rows. */
  readonly line: number | undefined;
  /** The currency of rows without one. */
  readonly currency: string | undefined;
  readonly dateOrder: DateOrder | undefined;
  readonly timeZone: TimeZone | undefined;
};

/** The decimal mark of a file: not searched yet, or the result of the search. */
export type KnownMark =
  | { readonly isKnown: false }
  | { readonly isKnown: true; readonly mark: DecimalMark | undefined };

/** Refuses a row that is too long to send. It names the core's limits, because the core never sees the row. */
const TOO_LONG =
  "row: is too long to send; id accepts at most 128 characters, name 200 and message 4000";

/**
 * Reads one row. Returns `undefined` if its amount needs the file's decimal mark, which is not known yet. A row gets a
 * derived id only if everything else in it could be read.
 */
export function readDonation(
  cells: readonly string[],
  rules: RowRules,
  known: KnownMark,
  derivedIds: DerivedIds,
): Parsed<Donation> | undefined {
  const { columns } = rules;
  if (!fitsHeader(cells, rules)) {
    return refused(`row: has ${cells.length} cells, and the header has ${rules.width}`);
  }
  const cell = (place: number | undefined) => (place === undefined ? "" : (cells[place] ?? ""));
  const amount = readAmount(cell, rules, known);
  if (!amount?.ok) return amount;
  const dateText = [cell(columns.date), cell(columns.time)].filter(Boolean).join(" ");
  const donatedAt = parseDonationDate(dateText, rules.dateOrder, rules.timeZone);
  if (!donatedAt.ok) return donatedAt;
  const donation = {
    ...amount.value,
    donorName: cell(columns.name) || undefined,
    message: cell(columns.message) || undefined,
    donatedAt: donatedAt.value,
  };
  const id = cell(columns.id);
  if (rowBytes({ externalId: id, ...donation }) > MAX_BYTES) return refused(TOO_LONG);
  if (id !== "") return accepted({ externalId: id, ...donation });
  // The line is part of a corrected row's id. Otherwise the row would have the same id as an equal row of the first
  // file.
  const correction = rules.line === undefined ? [] : [cell(rules.line)];
  return accepted({
    externalId: derivedIds.next([...meaningOf(donation), ...correction]),
    ...donation,
  });
}

/** Returns whether a row has one cell for each column. Empty cells after them do not count. */
export function fitsHeader(cells: readonly string[], { width }: RowRules): boolean {
  return cells.length >= width && cells.slice(width).every((cell) => cell === "");
}

function readAmount(
  cell: (place: number | undefined) => string,
  { columns, currency }: RowRules,
  known: KnownMark,
): Parsed<Amount> | undefined {
  if (columns.amount === undefined) {
    return parseAmountCents(cell(columns.amount_cents), cell(columns.currency), currency);
  }
  const text = parseAmountText(cell(columns.amount));
  if (!text.ok) return text;
  if (!known.isKnown && needsDecimalMark(text.value.readings)) return undefined;
  const mark = known.isKnown ? known.mark : undefined;
  return settleAmount(text.value, cell(columns.currency), currency, mark);
}

function meaningOf(donation: Omit<Donation, "externalId">) {
  const { amountCents, currency, donorName, message, donatedAt } = donation;
  const { seconds, micros } = donatedAt;
  return [String(amountCents), currency, donorName, message, seconds, micros];
}
