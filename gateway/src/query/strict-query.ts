import { InvalidParameterError } from "./invalid-parameter-error.ts";

/** The only parameter that may be empty here: the core checks its value. */
const MAY_BE_EMPTY = "cursor";
/**
 * Unknown names that an error may repeat. An API key that was pasted into the URL does not match: it is longer and has
 * digits.
 */
const HARMLESS_NAME = /^[A-Za-z_]{1,24}$/;
const ENCODING = "percent-encoded UTF-8 is accepted.";

/**
 * Parses a query string by form decoding. Throws InvalidParameterError for broken encoding, for an empty, unknown or
 * repeated name, and for an empty value. An empty query has no parameters.
 */
export function parseStrictQuery<Name extends string>(
  query: string,
  accepted: readonly Name[],
): ReadonlyMap<Name, string> {
  const values = new Map<Name, string>();
  if (query === "") return values;
  for (const pair of query.split("&")) {
    const equals = pair.indexOf("=");
    const rawName = equals < 0 ? pair : pair.slice(0, equals);
    const name = parseName(rawName, accepted);
    const value = equals < 0 ? "" : decode(pair.slice(equals + 1));
    if (value === undefined) {
      throw new InvalidParameterError(`${name} is not well-formed: ${ENCODING}`);
    }
    if (values.has(name)) throw new InvalidParameterError(`${name} may be given only once.`);
    if (value === "" && name !== MAY_BE_EMPTY) {
      throw new InvalidParameterError(`${name} may not be empty.`);
    }
    values.set(name, value);
  }
  return values;
}

/** Decodes a form's text. Returns `undefined` for broken escapes and invalid UTF-8. */
function decode(text: string): string | undefined {
  if (!text.includes("%") && !text.includes("+")) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

function parseName<Name extends string>(raw: string, accepted: readonly Name[]): Name {
  const text = decode(raw);
  if (text === undefined) throw brokenQuery();
  const name = accepted.find((candidate) => candidate === text);
  if (name !== undefined) return name;
  if (text === "") throw new InvalidParameterError("The name of a parameter may not be empty.");
  const subject = HARMLESS_NAME.test(text)
    ? `${text} is an unknown parameter`
    : "An unknown parameter";
  const rule = accepted.length === 0 ? "none is" : `${accepted.join(", ")} are`;
  throw new InvalidParameterError(`${subject}: ${rule} accepted here.`);
}

function brokenQuery(): InvalidParameterError {
  return new InvalidParameterError(`The query is not well-formed: ${ENCODING}`);
}
