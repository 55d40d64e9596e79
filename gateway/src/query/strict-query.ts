import { InvalidParameterError } from "./invalid-parameter-error.ts";

/** The one parameter whose empty value is for the core to judge. */
const MAY_BE_EMPTY = "cursor";
const NOT_URL_TEXT = /[^\x21-\x7e]/;

/**
 * Parses a query string by form decoding. Throws InvalidParameterError for broken encoding and for an
 * empty, unknown or repeated name, or an empty value. An absent or empty query has no parameters.
 */
export function parseStrictQuery<Name extends string>(
  query: string,
  accepted: readonly Name[],
): ReadonlyMap<Name, string> {
  const values = new Map<Name, string>();
  if (query === "") return values;
  if (NOT_URL_TEXT.test(query)) throw brokenEncoding();
  for (const pair of query.split("&")) {
    const equals = pair.indexOf("=");
    const rawName = equals < 0 ? pair : pair.slice(0, equals);
    const name = nameOf(decode(rawName), accepted);
    const value = equals < 0 ? "" : decode(pair.slice(equals + 1));
    if (values.has(name)) throw new InvalidParameterError(`${name} may be given only once.`);
    if (value === "" && name !== MAY_BE_EMPTY) {
      throw new InvalidParameterError(`${name} may not be empty.`);
    }
    values.set(name, value);
  }
  return values;
}

function decode(text: string): string {
  if (!text.includes("%") && !text.includes("+")) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw brokenEncoding();
  }
}

/** An unknown name is not repeated in the message: it may be a key that was pasted into the URL. */
function nameOf<Name extends string>(text: string, accepted: readonly Name[]): Name {
  const name = accepted.find((candidate) => candidate === text);
  if (name !== undefined) return name;
  if (text === "") throw new InvalidParameterError("The name of a parameter may not be empty.");
  throw new InvalidParameterError(
    accepted.length === 0
      ? "An unknown parameter: none is accepted here."
      : `An unknown parameter: accepted are ${accepted.join(", ")}.`,
  );
}

function brokenEncoding(): InvalidParameterError {
  return new InvalidParameterError(
    "The query is not well-formed: percent-encoded UTF-8 is accepted.",
  );
}
