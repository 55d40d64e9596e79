import { PLATFORMS, TYPES, UNITS, type Words } from "@activity/proto";
import type { Micros } from "../common/timestamps.ts";
import type { FeedPosition } from "./activity-cursor.ts";
import { JsonWriter } from "./json-writer.ts";

/**
 * A feed row in MySQL's binary protocol: a zero byte, a bitmap of the columns that are NULL, and the values of all
 * others in the statement's order. TINYINTs take one byte and BIGINTs eight. Each text follows its length.
 */
export type RawActivityRow = Buffer;

const NULLS_OFFSET = 1;
const RECORDED_AT_OFFSET = 3;
const RECORD_KEY_OFFSET = 12;
const RECORD_ID_BYTES = 15;
const SOURCE_OFFSET = RECORD_KEY_OFFSET + RECORD_ID_BYTES;
const TYPE_OFFSET = SOURCE_OFFSET + 1;
const PLATFORM_OFFSET = TYPE_OFFSET + 1;
const UNIT_OFFSET = PLATFORM_OFFSET + 1;
const VALUE_OFFSET = UNIT_OFFSET + 1;
/** Columns that may be NULL begin here. */
const REST_OFFSET = VALUE_OFFSET + 8;
const IS_NULL = {
  occurredAt: 1 << 8,
  currency: 1 << 9,
  refunded: 1 << 10,
  name: 1 << 11,
  message: 1 << 12,
};

/** Texts of 251 bytes or more begin with this byte and two bytes of length, because no column holds 65,536 bytes. */
const LONG_TEXT = 252;

const DONATION_SOURCE = 0x64;
const COMMA = 0x2c;
const CLOSING_BRACE = 0x7d;

/** Maximum bytes of a rendered row without its texts. */
const MAX_ROW_BYTES = 400;
/** The most bytes that a byte of text takes in JSON: a control character takes six. */
const ESCAPED = 6;
/** Writes all pages, one after the other, in the same buffer. */
const json = new JsonWriter();

/**
 * The parts of a rendered row between its values. A part with an enum member's word has the member's number as index.
 */
const PART = {
  donationId: Buffer.from('{"id":"don_'),
  eventId: Buffer.from('{"id":"evt_'),
  typeAndPlatform: partsOf(TYPES, (type) =>
    partsOf(PLATFORMS, (platform) =>
      Buffer.from(`","type":"${type}","platform":"${platform}","occurred_at":"`),
    ),
  ),
  recordedAt: Buffer.from('","recorded_at":"'),
  name: Buffer.from('","actor":{"name":'),
  message: Buffer.from('},"message":'),
  value: Buffer.from(',"value":'),
  unit: partsOf(UNITS, (unit) => Buffer.from(`,"unit":"${unit}","currency":`)),
  refunded: Buffer.from(',"refunded_amount_cents":'),
  null: Buffer.from("null"),
};

/** Returns the position of a row in its feed. */
export function positionOf(row: RawActivityRow): FeedPosition {
  return {
    recordedAtMicros: Number(row.readBigInt64LE(RECORDED_AT_OFFSET)),
    recordKey: row.toString("latin1", RECORD_KEY_OFFSET, TYPE_OFFSET),
  };
}

/** Renders the body of `GET /activity` from the rows of a page. §2.1, §4.2 */
export function renderPage(
  rows: readonly RawActivityRow[],
  hasMore: boolean,
  nextCursor: string | undefined,
): Buffer {
  json.begin();
  json.text('{"data":[');
  for (let place = 0; place < rows.length; place++) {
    if (place > 0) json.byte(COMMA);
    renderRow(rows[place] as RawActivityRow); // `place` is within the array
  }
  const cursor = nextCursor === undefined ? "null" : JSON.stringify(nextCursor);
  json.text(`],"pagination":{"has_more":${hasMore},"next_cursor":${cursor}}}`);
  return json.end();
}

function renderRow(row: RawActivityRow): void {
  const types = PART.typeAndPlatform[row[TYPE_OFFSET] ?? 0]?.[row[PLATFORM_OFFSET] ?? 0];
  const unit = PART.unit[row[UNIT_OFFSET] ?? 0];
  if (types === undefined || unit === undefined) throw new Error("a feed row lacks a field");
  json.reserve(MAX_ROW_BYTES + ESCAPED * row.length);
  const nulls = row.readUInt16LE(NULLS_OFFSET);
  const recordedAt = microsAt(row, RECORDED_AT_OFFSET);
  let at = REST_OFFSET;
  json.bytes(row[SOURCE_OFFSET] === DONATION_SOURCE ? PART.donationId : PART.eventId);
  json.copy(row, RECORD_KEY_OFFSET, SOURCE_OFFSET);
  json.bytes(types);
  if (nulls & IS_NULL.occurredAt) {
    json.time(recordedAt);
  } else {
    json.time(microsAt(row, at));
    at += 8;
  }
  json.bytes(PART.recordedAt);
  json.time(recordedAt);
  const currencyAt = at;
  if (!(nulls & IS_NULL.currency)) at = endOfText(row, at);
  const refundedAt = at;
  if (!(nulls & IS_NULL.refunded)) at += 8;
  json.bytes(PART.name);
  at = renderText(row, at, nulls & IS_NULL.name);
  json.bytes(PART.message);
  at = renderText(row, at, nulls & IS_NULL.message);
  json.bytes(PART.value);
  json.bigint(row, VALUE_OFFSET);
  json.bytes(unit);
  renderText(row, currencyAt, nulls & IS_NULL.currency);
  json.bytes(PART.refunded);
  if (nulls & IS_NULL.refunded) json.bytes(PART.null);
  else json.bigint(row, refundedAt);
  json.byte(CLOSING_BRACE);
  if (at !== row.length) throw new Error("a feed row has another form");
}

/** Renders the text at `at`, or null. Returns where the next column begins. */
function renderText(row: RawActivityRow, at: number, isNull: number): number {
  if (isNull) {
    json.bytes(PART.null);
    return at;
  }
  const end = endOfText(row, at);
  json.quoted(row, startOfText(row, at), end);
  return end;
}

function startOfText(row: RawActivityRow, at: number): number {
  return row[at] === LONG_TEXT ? at + 3 : at + 1;
}

function endOfText(row: RawActivityRow, at: number): number {
  const length = row[at] ?? 0;
  return length === LONG_TEXT ? at + 3 + row.readUInt16LE(at + 1) : at + 1 + length;
}

function microsAt(row: RawActivityRow, at: number): Micros {
  const micros = row.readInt32LE(at + 4) * 0x1_0000_0000 + row.readUInt32LE(at);
  return Number.isSafeInteger(micros) ? micros : row.readBigInt64LE(at);
}

function partsOf<Part>(
  words: Words,
  partOf: (word: string) => Part,
): readonly (Part | undefined)[] {
  const parts: (Part | undefined)[] = [];
  for (const [number, word] of Object.entries(words))
    if (word !== undefined) parts[Number(number)] = partOf(word);
  return parts;
}
