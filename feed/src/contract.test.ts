import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { asJson, compileSchema, type Json, openapi } from "../../test/contract/openapi-document.ts";
import { useFolder } from "../../test/harness/use-started.ts";
import { TSC } from "../../tools/release/published.ts";
import { ACTIVITY_TYPES, PLATFORMS } from "./contract.ts";

const CONTRACT = fileURLToPath(new URL("contract.ts", import.meta.url));
const folder = useFolder("feed-contract");
const schema = (name: string) => asJson(asJson(asJson(openapi.components).schemas)[name]);

/** Converts a schema of openapi.yaml to a TypeScript type. */
function typeOf(value: unknown): string {
  const { const: constant, enum: values, type, properties, items } = asJson(value);
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(values)) return values.map((each) => JSON.stringify(each)).join(" | ");
  if (Array.isArray(type)) return type.map((each) => typeOf({ type: each })).join(" | ");
  if (type === "array") return `readonly (${typeOf(items)})[]`;
  if (type === "object") return objectType(asJson(properties));
  return type === "integer" ? "number" : String(type);
}
function objectType(properties: Json): string {
  const fields = Object.entries(properties).map(
    ([name, each]) => `readonly ${name}: ${typeOf(each)};`,
  );
  return `{ ${fields.join(" ")} }`;
}

/** Returns the properties of an activity of one type and platform, with those of each branch that applies. */
function activityOf(type: string, platform: string): Json {
  const { properties, allOf } = schema("Activity");
  const merged: Record<string, unknown> = { ...asJson(properties), type: { const: type } };
  for (const branch of branchesOf(allOf, { type, platform })) {
    // A branch may add only a pattern to a property. The property then keeps its type.
    for (const [name, each] of Object.entries(asJson(branch.properties))) {
      merged[name] = { ...asJson(merged[name]), ...asJson(each) };
    }
  }
  return merged;
}
function branchesOf(allOf: unknown, record: object): Json[] {
  return (allOf as Json[]).flatMap((part) => {
    const { if: condition, then, else: otherwise, ...rest } = part;
    if (condition === undefined) return [rest];
    const branch = compileSchema(condition)(record) ? then : otherwise;
    return branch === undefined ? [] : branchesOf([branch], record);
  });
}

function activityType(type: string): string {
  // §2.3: all types but donations come from live platforms.
  const isFrom = (platform: string) => type === "donation" || platform.startsWith("live_");
  const each = PLATFORMS.filter(isFrom).map((platform) => activityOf(type, platform));
  const names = Object.keys(each[0] ?? {});
  const fields = names.map((name) => {
    const types =
      name === "platform" ? [typeOf(schema("Platform"))] : each.map((one) => typeOf(one[name]));
    return `readonly ${name}: ${[...new Set(types)].join(" | ")};`;
  });
  return `{ ${fields.join(" ")} }`;
}

it("knows the types and platforms of openapi.yaml", () => {
  expect(ACTIVITY_TYPES).toEqual(schema("ActivityType").enum);
  expect(PLATFORMS).toEqual(schema("Platform").enum);
});

it("has exactly the fields that openapi.yaml describes, checked by the compiler", () => {
  const checks = [
    ...ACTIVITY_TYPES.map((type) => [`Extract<Activity, { type: "${type}" }>`, activityType(type)]),
    ["Me", typeOf(schema("Me"))],
    ['ActivityPage["pagination"]', typeOf(schema("Pagination"))],
  ].map(
    ([ours, described], index) =>
      `type _${index} = Expect<Equal<Flat<${ours}>, Flat<${described}>>>;`,
  );
  const source = `import type { Activity, ActivityPage, Me } from ${JSON.stringify(CONTRACT)};
    type Flat<T> = T extends object ? { [K in keyof T]: Flat<T[K]> } : T;
    type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
    type Expect<T extends true> = T;
    ${checks.join("\n    ")}`;
  writeFileSync(join(folder, "check.ts"), source);
  const options = ["--noEmit", "--strict", "--ignoreConfig", "--allowImportingTsExtensions"];
  const args = [TSC, ...options, "--pretty", "false", "check.ts"];
  const compiled = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  expect(compiled).toMatchObject({ stdout: "", stderr: "", status: 0 });
});
