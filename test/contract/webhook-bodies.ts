import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { parse } from "yaml";

/** The parts of a JSON Schema that the tests read. */
export type Schema = {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
};

type Parameter = { readonly name: string; readonly required: boolean; readonly schema: Schema };
type Description = {
  readonly webhooks: Readonly<
    Record<string, { readonly post: { readonly parameters: readonly Schema[] } }>
  >;
  readonly components: {
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
};

const FILE = new URL("../../openapi-webhooks.yaml", import.meta.url);
/** The parsed openapi-webhooks.yaml. */
export const webhooksDescription: Description = parse(readFileSync(FILE, "utf8"));

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(closed(webhooksDescription) as object, "webhooks");

/** Returns `DonationCreated` for `donation.created`. */
export const schemaNameOf = (kind: string) =>
  kind.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase());

const validators = new Map<string, ValidateFunction>(
  Object.keys(webhooksDescription.webhooks).map((kind) => [
    kind,
    ajv.compile({ $ref: `webhooks#/components/schemas/${schemaNameOf(kind)}` }),
  ]),
);

/** Lists how a delivery's body differs from openapi-webhooks.yaml. Empty if it does not. */
export function faultsOfWebhookBody(body: Buffer): string[] {
  let event: { readonly type?: string };
  try {
    event = JSON.parse(body.toString("utf8"));
  } catch {
    return ["it is no JSON"];
  }
  const validate = validators.get(event.type ?? "");
  return validate === undefined ? ["its kind is not described"] : faultsBy(validate, event);
}

/** Lists how a value differs from a schema of openapi-webhooks.yaml. */
export function faultsOfValue(schema: Schema, value: unknown): string[] {
  const { $ref } = schema;
  return faultsBy(ajv.compile($ref === undefined ? schema : { $ref: `webhooks${$ref}` }), value);
}

function faultsBy(validate: ValidateFunction, value: unknown): string[] {
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** Receivers ignore unknown fields. These schemas refuse them, so that a field without a description fails a test. */
function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed);
  if (typeof part !== "object" || part === null) return part;
  const inner = Object.fromEntries(
    Object.entries(part).map(([name, value]) => [name, closed(value)]),
  );
  return inner.type === "object" ? { ...inner, additionalProperties: false } : inner;
}
