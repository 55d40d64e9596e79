import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { findBase } from "../../tools/release/base.ts";
import { ROOT } from "../architecture/import-rule.ts";
import { described, type Json, openapi, openapiText } from "../contract/openapi-document.ts";
import { takenFromClients } from "./openapi-diff.ts";

/** The text of openapi.yaml about activities of one type. */
const FOLLOW = `        - if: { properties: { type: { const: follow } }, required: [type] }
          then: { properties: { unit: { const: none }, value: { const: 0 } } }
`;

describe("openapi.yaml, ADR 0044", () => {
  it("keeps everything that clients of the version before rely on", () => {
    const { commit, note } = findBase();
    process.stderr.write(`${note ?? "Compared with the commit of .ci/base"}: ${commit}\n`);
    const args = ["show", `${commit}:openapi.yaml`];
    const before = execFileSync("git", args, { cwd: ROOT, encoding: "utf8" });
    expect(takenFromClients(described<Json>(before), openapi)).toEqual([]);
  });

  it.each([
    ["a path", "  /me:\n", "  /myself:\n", "/me: is gone"],
    ["a method", "    options:\n", "    trace:\n", "OPTIONS /activity: is gone"],
    ["a parameter", "name: until\n", "name: before\n", "GET /activity query until: is gone"],
    ["a parameter's value", "enum: [asc, desc]", "enum: [asc]", "GET /activity query order: enum"],
    ["a parameter's bound", "maximum: 100", "maximum: 99", "GET /activity query limit: maximum"],
    ["a default", "default: 50", "default: 20", "GET /activity query limit: default"],
    ["a code", "x-codes: [invalid_api_key]", "x-codes: [x]", "GET /me 401: x-codes was"],
    ["a response", '"431": { $ref', '"432": { $ref', "GET /activity 431: is gone"],
    ["a field", "recorded_at:", "stored_at:", "data[].recorded_at: is gone"],
    ["a header", "X-Request-Id:", "X-Request:", "GET /activity 200 X-Request-Id: is gone"],
    ["a branch", FOLLOW, "", 'data[]: allOf was [{"if":'],
  ])("a comparison finds the loss of %s", (_, text, other, expected) => {
    expect(openapiText).toContain(text);
    const changed = described<Json>(openapiText.replaceAll(text, other));
    expect(takenFromClients(openapi, changed).join("\n")).toContain(expected);
  });

  it("a comparison allows a new type with its branch", () => {
    const branch = FOLLOW.replace("const: follow", "const: tip");
    const text = openapiText.replace(FOLLOW, FOLLOW + branch);
    const changed = described<Json>(text.replace("cheer, raid]", "cheer, raid, tip]"));
    expect(takenFromClients(openapi, changed)).toEqual([]);
    expect(changed).not.toEqual(openapi);
  });
});
