import { VerificationError } from "./verification-error.ts";

/** Request headers in any form that servers use. */
export type HeadersInput =
  | { get(name: string): string | null }
  | Iterable<readonly [string, string | readonly string[]]>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The received texts of the headers that the signature depends on. */
export interface SignedHeaders {
  readonly eventId: string;
  readonly timestamp: string;
  readonly signature: string;
}

const NAME_BY_FIELD = {
  eventId: "service-event-id",
  timestamp: "service-timestamp",
  signature: "service-signature",
} as const satisfies Record<keyof SignedHeaders, string>;

/** Reads the three headers of a delivery. Throws `missing_header`, `repeated_header` or `headers_not_given`. */
export function readSignedHeaders(headers: HeadersInput): SignedHeaders {
  const find = finderFor(headers);
  return {
    eventId: readOne(find, NAME_BY_FIELD.eventId),
    timestamp: readOne(find, NAME_BY_FIELD.timestamp),
    signature: readOne(find, NAME_BY_FIELD.signature),
  };
}

type Finder = (lowerCaseName: string) => readonly unknown[];

function readOne(find: Finder, name: string): string {
  const values = find(name);
  const [value] = values;
  // Servers and `Headers` join repeated headers with a comma. None of the three values can contain one.
  if (values.length > 1 || (typeof value === "string" && value.includes(","))) {
    throw new VerificationError("repeated_header", name);
  }
  if (typeof value !== "string" || value === "")
    throw new VerificationError("missing_header", name);
  return value;
}

function finderFor(headers: unknown): Finder {
  if (typeof headers !== "object" || headers === null) {
    throw notGiven(`got ${headers === null ? "null" : typeof headers}`);
  }
  if (Symbol.iterator in headers && (Array.isArray(headers) || headers instanceof Map)) {
    return finderForEntries(headers);
  }
  if ("get" in headers && typeof headers.get === "function") {
    const { get } = headers;
    return (name) => [get.call(headers, name)];
  }
  if (typeof (headers as Partial<Iterable<unknown>>)[Symbol.iterator] === "function") {
    return finderForEntries(headers as Iterable<unknown>);
  }
  // This check comes after the one for `get`, because Next.js 15 returns a promise that also has the methods of
  // headers. A plain object may have a header named "then", but its value is no function.
  if ("then" in headers && typeof headers.then === "function") {
    throw notGiven("got a promise; await it first");
  }
  return (name) => valuesInRecord(headers as Record<string, unknown>, name);
}

function finderForEntries(entries: Iterable<unknown>): Finder {
  const list = [...entries];
  const pairs = list.filter(Array.isArray);
  // Accepts an empty list, because a request can have no headers.
  if (pairs.length === 0 && list.length > 0) {
    throw notGiven("got a flat list, such as Node's rawHeaders; pass request.headers");
  }
  return (name) =>
    pairs
      .filter((pair) => typeof pair[0] === "string" && pair[0].toLowerCase() === name)
      .flatMap((pair): unknown => pair[1]);
}

function notGiven(detail: string): VerificationError {
  return new VerificationError("headers_not_given", detail);
}

function valuesInRecord(
  record: Record<string, unknown>,
  lowerCaseName: string,
): readonly unknown[] {
  const values: unknown[] = [];
  for (const name in record) {
    if (name.length !== lowerCaseName.length || name.toLowerCase() !== lowerCaseName) continue;
    const value = record[name];
    if (Array.isArray(value)) values.push(...value);
    else if (value !== undefined) values.push(value);
  }
  return values;
}
