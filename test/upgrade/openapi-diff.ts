import { isDeepStrictEqual } from "node:util";

type Json = Readonly<Record<string, unknown>>;
/** Whether clients send a value or receive it. */
type Side = "request" | "response";
/** What a document says at a place: the keywords of a schema, and whether the value is required. */
type Said = { readonly side: Side; readonly keywords: Json };

const METHODS = ["get", "head", "options", "put", "post", "delete", "patch"];
/** Keywords of bounds. Those of a request may widen, those of a response may narrow. */
const LOWEST = ["minimum", "minLength", "minItems"];
const HIGHEST = ["maximum", "maxLength", "maxItems"];
/** Keywords whose value must stay exactly equal, because clients may depend on it. */
const FIXED = [
  ...["pattern", "format", "const", "default", "allOf", "anyOf", "oneOf", "not"],
  "x-codes",
];
const COMPARED = ["required", "type", "enum", ...LOWEST, ...HIGHEST, ...FIXED];
const TEXTS = ["description", "title", "examples"];

/**
 * Lists what clients relied on in `before` and miss in `now`: paths, methods, parameters, responses with their
 * headers, fields and types. A response's enumeration may gain values, as clients must expect. Texts and examples are
 * not compared.
 */
export function takenFromClients(before: Json, now: Json): string[] {
  const [older, newer] = [placesOf(before), placesOf(now)];
  const taken = isDeepStrictEqual(before.security, now.security) ? [] : ["security: changed"];
  for (const [at, { side, keywords: was }] of older) {
    const is = newer.get(at)?.keywords;
    if (is === undefined) taken.push(`${at}: is gone`);
    for (const keyword of COMPARED.filter(
      (name) => is && !isKept(side, name, was[name], is[name]),
    )) {
      const [old, changed] = [was[keyword], is?.[keyword]].map((value) => JSON.stringify(value));
      taken.push(`${at}: ${keyword} was ${old}, is ${changed}`);
    }
  }
  for (const [at, { side, keywords }] of newer) {
    const isNew = side === "request" && !older.has(at);
    if (isNew && keywords.required === true) taken.push(`${at}: is required now`);
  }
  return taken;
}

/** Lists the places of a document: paths, methods, parameters, responses, headers, contents and their fields. */
function placesOf(document: Json): Map<string, Said> {
  const places = new Map<string, Said>();
  const add = (at: string, side: Side, schema: unknown = {}, isRequired: unknown = false) => {
    const { properties, items, required, ...keywords } = schema as Json;
    places.set(at, { side, keywords: { ...keywords, required: isRequired === true } });
    for (const [name, field] of entries(properties)) {
      add(`${at}.${name}`, side, field, list(required).includes(name));
    }
    if (items !== undefined) add(`${at}[]`, side, items);
  };
  for (const [path, item] of entries(document.paths)) {
    add(path, "response");
    for (const method of METHODS.filter((name) => name in item)) {
      const at = `${method.toUpperCase()} ${path}`;
      const { parameters, responses } = item[method] as Json;
      add(at, "response");
      for (const one of [...list(item.parameters), ...list(parameters)] as Json[]) {
        add(`${at} ${one.in} ${one.name}`, "request", one.schema, one.required);
      }
      for (const [status, { headers, content, "x-codes": codes }] of entries(responses)) {
        add(`${at} ${status}`, "response", { "x-codes": codes });
        for (const [name, { schema, required }] of entries(headers)) {
          add(`${at} ${status} ${name}`, "response", schema, required);
        }
        for (const [type, { schema }] of entries(content)) {
          add(`${at} ${status} ${type}`, "response", schema);
        }
      }
    }
  }
  return places;
}

/** Tells whether clients can still rely on a keyword. */
function isKept(side: Side, keyword: string, was: unknown, is: unknown): boolean {
  // A response may gain branches, such as that of a new type: a branch only narrows it.
  if (keyword === "allOf" && side === "response") {
    const branches = list(withoutTexts(is));
    return list(withoutTexts(was)).every((one) =>
      branches.some((other) => isDeepStrictEqual(one, other)),
    );
  }
  if (FIXED.includes(keyword)) return isDeepStrictEqual(withoutTexts(was), withoutTexts(is));
  // The side that receives must accept everything that the other side may send.
  const [sent, accepted] = side === "request" ? [was, is] : [is, was];
  if (keyword === "required") return sent === true || accepted === false;
  if (accepted === undefined || (keyword === "enum" && side === "response")) return true;
  if (sent === undefined) return false;
  if (LOWEST.includes(keyword)) return Number(sent) >= Number(accepted);
  if (HIGHEST.includes(keyword)) return Number(sent) <= Number(accepted);
  return list(sent).every((value) => list(accepted).includes(value));
}

const list = (value: unknown): unknown[] => (value === undefined ? [] : [value].flat());
const entries = (value: unknown) => Object.entries((value ?? {}) as Record<string, Json>);

function withoutTexts(value: unknown): unknown {
  const dropText = (name: string, inner: unknown) => (TEXTS.includes(name) ? undefined : inner);
  return value === undefined ? value : JSON.parse(JSON.stringify(value, dropText));
}
