import {
  type ActivityType,
  type ListActivitiesRequest,
  ListActivitiesRequestSchema,
  numbersByWord,
  Order,
  PLATFORMS,
  type Platform,
  TYPES,
} from "@activity/proto";
import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { InvalidParameterError } from "./invalid-parameter-error.ts";
import { parseStrictQuery } from "./strict-query.ts";
import { findTimestamp } from "./timestamp.ts";

const PARAMETERS = ["limit", "order", "type", "platform", "since", "until", "cursor"] as const;
const LIMIT = /^[1-9][0-9]{0,2}$/;
const MAX_LIMIT = 100;
const MAX_CURSOR_LENGTH = 2048;

const ORDERS: ReadonlyMap<string, Order> = new Map([
  ["asc", Order.ASC],
  ["desc", Order.DESC],
]);

const TYPE_NUMBERS: ReadonlyMap<string, ActivityType> = numbersByWord(TYPES);
const PLATFORM_NUMBERS: ReadonlyMap<string, Platform> = numbersByWord(PLATFORMS);

/** Parses the query of `/activity`. Throws InvalidParameterError. The core parses the cursor. §4.2 */
export function parseActivityQuery(query: string): ListActivitiesRequest {
  const request = create(ListActivitiesRequestSchema);
  for (const [name, value] of parseStrictQuery(query, PARAMETERS)) {
    switch (name) {
      case "limit":
        request.limit = parseLimit(value);
        break;
      case "order":
        request.order = parseWord(name, value, ORDERS);
        break;
      case "type":
        request.type = parseWord(name, value, TYPE_NUMBERS);
        break;
      case "platform":
        request.platform = parseWord(name, value, PLATFORM_NUMBERS);
        break;
      case "since":
        request.since = parseTime(name, value);
        break;
      case "until":
        request.until = parseTime(name, value);
        break;
      case "cursor":
        request.cursor = parseCursor(value);
        break;
      default:
        name satisfies never;
    }
  }
  return request;
}

function parseLimit(value: string): number {
  const limit = Number(value);
  if (LIMIT.test(value) && limit <= MAX_LIMIT) return limit;
  throw new InvalidParameterError(`limit accepts a whole number from 1 to ${MAX_LIMIT}.`);
}

function parseWord<T>(name: string, value: string, words: ReadonlyMap<string, T>): T {
  const meaning = words.get(value);
  if (meaning !== undefined) return meaning;
  throw new InvalidParameterError(`${name} accepts one of ${[...words.keys()].join(", ")}.`);
}

function parseTime(name: string, value: string): Timestamp {
  const time = findTimestamp(value);
  if (time !== undefined) return time;
  throw new InvalidParameterError(
    `${name} accepts a UTC time such as 2026-03-01T12:00:00Z, with at most six fractional digits.`,
  );
}

function parseCursor(value: string): string {
  if (value.length <= MAX_CURSOR_LENGTH || [...value].length <= MAX_CURSOR_LENGTH) return value;
  throw new InvalidParameterError(
    `cursor accepts a next_cursor of at most ${MAX_CURSOR_LENGTH} characters.`,
  );
}
