import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { parse } from "yaml";

/** A JSON Schema, or another object of a description. */
export type Json = { readonly [name: string]: unknown };

/** Reads a file of the repository's root. */
const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");

/** Parses a description. Replaces each `$ref` by the part that it names. */
export function described<Description>(text: string): Description {
  const document = parse(text);
  const resolve = (part: Json): Json =>
    JSON.parse(JSON.stringify(part), (_, value) => {
      if (typeof value?.$ref !== "string") return value;
      const { $ref, ...beside } = value;
      const names: string[] = $ref.replace(/^#\//, "").split("/");
      const named = names.reduce<unknown>((inner, name) => asJson(inner)[name], document);
      return { ...resolve(asJson(named)), ...beside };
    });
  return resolve(document) as Description;
}

export const openapiText = read("openapi.yaml");
/** The parsed openapi.yaml, without references. */
export const openapi: Json = described(openapiText);

/** Returns the described query parameters of a path. */
export const parametersOf = (path: string): Json[] =>
  ((asJson(asJson(openapi.paths)[path]).parameters ?? []) as unknown[]).map(asJson);

/** The parts of a JSON Schema that the tests of webhooks read. */
export type Schema = {
  readonly allOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
};
type Parameter = { readonly name: string; readonly required: boolean; readonly schema: Schema };
/** The parsed openapi-webhooks.yaml, without references. */
export const webhooks = described<{
  readonly webhooks: Readonly<
    Record<string, { readonly post: { readonly parameters: readonly Parameter[] } }>
  >;
  readonly components: {
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}>(read("openapi-webhooks.yaml"));

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);

/** Compiles a schema of a description. Ajv keeps the result for the next call. */
export const compileSchema = (schema: unknown): ValidateFunction => ajv.compile(asJson(schema));

/** Lists how a value differs from a schema. Empty if it does not. */
export function faultsOf(schema: unknown, value: unknown): string[] {
  const validate = compileSchema(schema);
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** Lists how a delivery's body differs from openapi-webhooks.yaml. Empty if it does not. */
export function faultsOfWebhookBody(body: Buffer): string[] {
  let event: { readonly type?: string };
  try {
    event = JSON.parse(body.toString("utf8"));
  } catch {
    return ["it is no JSON"];
  }
  const schema = closedSchemas.get(event.type ?? "");
  return schema === undefined ? ["its kind is not described"] : faultsOf(schema, event);
}

/** Returns the schema of a kind's events: `DonationCreated` for `donation.created`. */
export function schemaOf(kind: string): Schema {
  const name = kind.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase());
  return webhooks.components.schemas[name] ?? {};
}

/** Receivers ignore unknown fields. These schemas refuse them, so that a field without a description fails a test. */
const closedSchemas = new Map(
  Object.keys(webhooks.webhooks).map((kind) => [kind, closed(schemaOf(kind))]),
);

function closed(schema: Schema): Json {
  return JSON.parse(JSON.stringify(schema), (_, value) =>
    value?.type === "object" ? { ...value, additionalProperties: false } : value,
  );
}

/** Returns a value as an object. Throws if it is not one. */
export function asJson(value: unknown): Json {
  if (typeof value !== "object" || value === null) throw new Error("not an object in openapi.yaml");
  return value as Json; // The line above checks it.
}
