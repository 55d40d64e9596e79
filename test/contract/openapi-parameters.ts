import { asJson, compileSchema, type Json } from "./openapi-document.ts";

/** A query of /activity, and whether the description accepts it. */
type ParameterCase = { readonly query: string; readonly accepted: boolean };

/** Makes queries that keep, and queries that break, every rule of a parameter in openapi.yaml. */
export function casesOf(parameter: Json): ParameterCase[] {
  const name = String(parameter.name);
  // Only the descriptions of `since` and `until` say that they are real times: the schema has no `format`.
  const isTime = name === "since" || name === "until";
  const schema = { ...asJson(parameter.schema), ...(isTime && { format: "date-time" }) };
  const isAccepted = acceptance(parameter, schema);
  const good = [...examplesOf(parameter, schema)];
  const tried = new Set([...good, ...good.flatMap(variantsOf), ...edgesOf(schema)]);
  const valued = [...tried].map((value) => ({
    query: `${name}=${encodeURIComponent(value)}`,
    accepted: isAccepted(value),
  }));
  return [...valued, { query: name, accepted: isAccepted("") }];
}

/** Returns the schema's verdict on a value as a query writes it. */
function acceptance(parameter: Json, schema: Json): (value: string) => boolean {
  const validate = compileSchema(schema);
  return (value) => {
    if (value === "") return parameter.allowEmptyValue === true;
    if (schema.type !== "integer") return validate(value);
    return /^(0|[1-9]\d*)$/.test(value) && validate(Number(value));
  };
}

function examplesOf(parameter: Json, schema: Json): Set<string> {
  const examples = Object.values(asJson(parameter.examples ?? {})).map((one) => asJson(one).value);
  const words = Array.isArray(schema.enum) ? schema.enum : [];
  const given = [...examples, ...words, schema.default, schema.minimum, schema.maximum];
  return new Set(given.filter((value) => value !== undefined).map(String));
}

/** Values one step outside the limits. */
function edgesOf(schema: Json): string[] {
  const edges: string[] = ["", " ", "null", "__proto__"];
  if (typeof schema.minimum === "number") edges.push(String(schema.minimum - 1));
  if (typeof schema.maximum === "number") edges.push(String(schema.maximum + 1));
  if (typeof schema.maxLength === "number") {
    edges.push("x".repeat(schema.maxLength), "x".repeat(schema.maxLength + 1));
  }
  if (schema.format === "date-time") edges.push(...TIMES);
  return edges;
}

/** Other spellings of an accepted value. */
function variantsOf(value: string): string[] {
  return [
    value.toUpperCase(),
    value.toLowerCase(),
    ` ${value}`,
    `${value} `,
    `+${value}`,
    `-${value}`,
    `0${value}`,
    `${value}.0`,
    `${value}x`,
    value.slice(0, -1),
    value.replace("Z", "+00:00"),
    value.replace("T", " "),
  ];
}

const TIMES = [
  "0001-01-01T00:00:00Z",
  "0000-12-31T00:00:00Z",
  "2023-02-29T00:00:00Z",
  "2000-02-29T00:00:00Z",
  "1900-02-29T00:00:00Z",
  "2026-04-31T00:00:00Z",
  "2026-13-01T00:00:00Z",
  "2026-01-01T24:00:00Z",
  "2016-12-31T23:59:60Z",
  "2026-01-01T00:00:00.123456Z",
  "2026-01-01T00:00:00.1234567Z",
  "2026-01-01T00:00:00.Z",
  "2026-01-01",
  "1767225600",
];
