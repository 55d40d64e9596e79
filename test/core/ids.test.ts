import { ErrorInfoSchema, Platform } from "@activity/proto";
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { failureOf, METHODS } from "../harness/methods.ts";
import { useTestStack } from "../harness/stack.ts";

/** An invalid id with the length of an id. The database cannot compare its characters with a column of ids. */
const NO_ID = "é".repeat(15);

const stack = useTestStack();

/** Tells whether a field holds one of our ids. External ids may be any text. */
const isId = ({ name }: DescField) => name.endsWith("_id") && !name.endsWith("external_id");

/** Returns a message whose ids are all invalid, and the paths of these fields. */
function withoutIds({ fields }: DescMessage): { request: object; paths: string[] } {
  const paths: string[] = [];
  const entries = fields.flatMap((field): [string, unknown][] => {
    if (isId(field)) {
      paths.push(field.name);
      return [[field.localName, NO_ID]];
    }
    // Gives a valid platform, because an import checks the platform before the ids.
    if (field.name === "platform") return [[field.localName, Platform.CSV]];
    if (field.message === undefined) return [];
    const inner = withoutIds(field.message);
    if (inner.paths.length === 0) return [];
    paths.push(...inner.paths.map((path) => `${field.name}.${path}`));
    const value = field.fieldKind === "list" ? [inner.request] : inner.request;
    const { oneof } = field;
    // The only oneof with ids is the step of an import. Of its cases only the opening has ids.
    return [oneof ? [oneof.localName, { case: field.localName, value }] : [field.localName, value]];
  });
  return { request: Object.fromEntries(entries), paths };
}

/** The calls that have ids. Of the SessionService, only `CreateSessionLink` has one: browsers make the others. */
const CALLS = METHODS.map((method) => ({
  method,
  name: method.name,
  ...withoutIds(method.input),
})).filter(({ paths }) => paths.length > 0);

it.each(CALLS)("$name refuses an invalid id and names its field", async (call) => {
  const failure = await failureOf(stack.client, call.method, [call.request]);
  expect(failure?.findDetails(ErrorInfoSchema)[0]?.code).toBe("invalid_parameter");
  for (const path of call.paths) expect(failure?.message).toContain(path.split(".").at(-1));
  // The core did not report the refusal as a bug.
  expect(stack.log.filter((line) => line.includes("call failed"))).toEqual([]);
});
