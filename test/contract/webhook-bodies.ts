import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { parse } from "yaml";

type Description = {
  readonly webhooks: Readonly<Record<string, unknown>>;
  readonly components: {
    readonly schemas: Readonly<
      Record<string, { readonly properties?: { readonly data?: unknown } }>
    >;
  };
};

const FILE = new URL("../../openapi-webhooks.yaml", import.meta.url);
/** What openapi-webhooks.yaml describes. */
export const webhooksDescription: Description = parse(readFileSync(FILE, "utf8"));

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(webhooksDescription as object, "webhooks");

/** `DonationCreated` for `donation.created`. */
export const schemaNameOf = (kind: string) =>
  kind.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase());

const validators = new Map<string, ValidateFunction>(
  Object.keys(webhooksDescription.webhooks).map((kind) => [
    kind,
    ajv.compile({ $ref: `webhooks#/components/schemas/${schemaNameOf(kind)}` }),
  ]),
);

/** Says how the body of a delivery differs from openapi-webhooks.yaml; empty when it does not. */
export function faultsOfWebhookBody(body: Buffer): string[] {
  const event: { readonly type?: string } = JSON.parse(body.toString("utf8"));
  const validate = validators.get(event.type ?? "");
  if (validate === undefined) return ["its kind is not described"];
  if (validate(event)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
