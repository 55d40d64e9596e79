import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { parse } from "yaml";

/** A JSON Schema, or another object of the description. */
export type Json = { readonly [name: string]: unknown };

const FILE = new URL("../../openapi.yaml", import.meta.url);

/** The text of openapi.yaml. */
export const openapiText = readFileSync(FILE, "utf8");
/** The parsed description. */
export const openapi: Json = parse(openapiText);

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(openapi, "openapi.yaml");

/** Compiles a schema of the description. Follows its references. */
export function compileSchema(schema: unknown): ValidateFunction {
  return ajv.compile(absolute(schema) as Json);
}

/** Returns the object itself, or the object that its `$ref` names. */
export function resolved(value: unknown): Json {
  const object = asJson(value);
  const ref = object.$ref;
  if (typeof ref !== "string") return object;
  const names = ref.replace(/^#\//, "").split("/");
  return resolved(names.reduce<unknown>((inner, name) => asJson(inner)[name], openapi));
}

/** Returns a value as an object. Throws if it is not one. */
export function asJson(value: unknown): Json {
  if (typeof value !== "object" || value === null) throw new Error("not an object in openapi.yaml");
  return value as Json; // The line above checks it.
}

/** Makes references absolute, so that a part of the description compiles alone. */
function absolute(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(absolute);
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === "$ref" ? `openapi.yaml${value}` : absolute(value),
    ]),
  );
}
