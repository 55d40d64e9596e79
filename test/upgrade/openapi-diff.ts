import { isDeepStrictEqual } from "node:util";

type Json = Readonly<Record<string, unknown>>;
/** Whether clients send a value of the schema or receive it. */
type Side = "request" | "response";

const METHODS = ["get", "head", "options", "put", "post", "delete", "patch"];
/** Keywords of bounds. Those of a request may widen, those of a response may narrow. */
const LOWEST = ["minimum", "minLength", "minItems"];
const HIGHEST = ["maximum", "maxLength", "maxItems"];
/** Keywords whose value must stay exactly equal, because clients may depend on it. */
const FIXED = ["pattern", "format", "const", "default", "allOf", "anyOf", "oneOf", "not"];

/**
 * Lists what clients relied on in `before` and miss in `now`: paths, methods, parameters, responses with their
 * headers, fields and types. A response's enumeration may gain values, as clients must expect. Texts and examples are
 * not compared.
 */
export function takenFromClients(before: Json, now: Json): string[] {
  const taken: string[] = [];
  const take = (at: string, what: string) => void taken.push(`${at}: ${what}`);
  const a = (value: unknown) => resolve(before, value);
  const b = (value: unknown) => resolve(now, value);

  for (const [path, oldItem, newItem] of pairs("", before.paths, now.paths)) {
    for (const method of METHODS.filter((name) => name in oldItem)) {
      const at = `${method.toUpperCase()} ${path}`;
      if (!(method in newItem)) take(at, "is gone");
      else compareOperation(at, oldItem, newItem, method);
    }
  }
  if (!isDeepStrictEqual(before.security, now.security)) take("security", "changed");
  return taken;

  /** Pairs the parts that both have under a name. Reports those that only the older one has. */
  function* pairs(at: string, older: unknown, newer: unknown): Generator<[string, Json, Json]> {
    for (const [name, value] of Object.entries(a(older))) {
      const other = b(newer)[name];
      if (other === undefined) take(`${at}${name}`, "is gone");
      else yield [`${at}${name}`, a(value), b(other)];
    }
  }

  function compareOperation(at: string, oldItem: Json, newItem: Json, method: string): void {
    const [older, newer] = [a(oldItem[method]), b(newItem[method])];
    const oldParameters = byName(a, oldItem.parameters, older.parameters);
    const newParameters = byName(b, newItem.parameters, newer.parameters);
    for (const [name, parameter] of Object.entries(newParameters)) {
      const wasRequired = a(oldParameters[name]).required === true;
      if (b(parameter).required === true && !wasRequired) take(`${at} ${name}`, "is required now");
    }
    for (const [where, one, other] of pairs(`${at} `, oldParameters, newParameters)) {
      compareSchema("request", where, one.schema, other.schema);
    }
    for (const [where, one, other] of pairs(`${at} `, older.responses, newer.responses)) {
      for (const [header, was, is] of pairs(`${where} `, one.headers, other.headers)) {
        if (was.required === true && is.required !== true) take(header, "may be missing now");
        compareSchema("response", header, was.schema, is.schema);
      }
      for (const [type, was, is] of pairs(`${where} `, one.content, other.content)) {
        compareSchema("response", type, was.schema, is.schema);
      }
    }
  }

  function compareSchema(side: Side, at: string, olderRef: unknown, newerRef: unknown): void {
    const [older, newer] = [a(olderRef), b(newerRef)];
    // The side that receives must accept everything that the other side may send.
    const [promised, kept] = side === "request" ? [older, newer] : [newer, older];
    const stays = (keyword: string) => {
      const left = list(promised[keyword]).filter((value) => !list(kept[keyword]).includes(value));
      if (kept[keyword] !== undefined && (left.length > 0 || promised[keyword] === undefined)) {
        take(at, `${keyword} was ${list(older[keyword])}, is ${list(newer[keyword])}`);
      }
    };
    stays("type");
    if (side === "request") stays("enum");
    for (const keyword of LOWEST) bounded(keyword, (was, is) => was >= is);
    for (const keyword of HIGHEST) bounded(keyword, (was, is) => was <= is);
    for (const keyword of FIXED) {
      if (!isDeepStrictEqual(inline(a, older[keyword]), inline(b, newer[keyword]))) {
        take(at, `${keyword} changed`);
      }
    }
    for (const name of list(older.required).filter((one) => !list(newer.required).includes(one))) {
      if (side === "response") take(`${at}.${name}`, "may be missing now");
    }
    for (const [field, was, is] of pairs(`${at}.`, older.properties, newer.properties)) {
      compareSchema(side, field, was, is);
    }
    if (older.items !== undefined) compareSchema(side, `${at}[]`, older.items, newer.items);

    function bounded(keyword: string, holds: (bound: number, other: number) => boolean): void {
      const [bound, limit] = [promised[keyword], kept[keyword]];
      if (typeof limit !== "number") return;
      if (typeof bound !== "number" || !holds(bound, limit)) take(at, `${keyword} changed`);
    }
  }
}

const list = (value: unknown): unknown[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

/** Follows references within a document. Returns an empty object for a missing value. */
function resolve(document: Json, value: unknown): Json {
  const object = (value ?? {}) as Json; // Callers pass only objects.
  if (typeof object.$ref !== "string") return object;
  const names = object.$ref.replace(/^#\//, "").split("/");
  const named = names.reduce<unknown>((inner, name) => (inner as Json)?.[name], document);
  if (named === undefined) throw new Error(`${object.$ref} names nothing`);
  return resolve(document, named);
}

/** Returns a value with all its references resolved. */
function inline(follow: (value: unknown) => Json, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => inline(follow, one));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(follow(value))
      .filter(([name]) => !["description", "title", "examples"].includes(name))
      .map(([name, one]) => [name, inline(follow, one)]),
  );
}

function byName(follow: (value: unknown) => Json, ...lists: unknown[]): Json {
  const parameters = lists.flatMap(list).map(follow);
  return Object.fromEntries(parameters.map((one) => [`${one.in} ${one.name}`, one]));
}
