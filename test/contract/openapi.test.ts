import openapiTS from "openapi-typescript";
import { describe, expect, it } from "vitest";
import { refusalOf } from "../../gateway/src/unreadable-request.ts";
import { createReader } from "../harness/builders.ts";
import { useTestStack } from "../harness/stack.ts";
import {
  asJson,
  compileSchema,
  faultsOf,
  openapi,
  openapiText,
  parametersOf,
  webhooks,
} from "./openapi-document.ts";

const stack = useTestStack();

const components = asJson(openapi.components);
/** The request id of every example in openapi.yaml. */
const EXAMPLE_ID = "req_3f9Qm1sXK0aZ7yB-uLwT2e";

describe("openapi.yaml", () => {
  it("is a valid OpenAPI 3.1 description, and types can be generated from it", async () => {
    expect(asJson(openapi.info).version).toBe("1.0.0");
    expect(await openapiTS(openapiText)).not.toHaveLength(0);
  });

  it("describes GET, HEAD and OPTIONS of both paths, with every status and the common headers", () => {
    expect(Object.keys(asJson(openapi.paths))).toEqual(["/activity", "/me"]);
    for (const item of Object.values(asJson(openapi.paths)).map(asJson)) {
      expect(asJson(item["x-other-methods"])).toHaveProperty("405");
      for (const method of ["get", "head", "options"]) {
        const responses = asJson(asJson(item[method]).responses);
        const success = method === "options" ? "204" : "200";
        const statuses = [success, "400", "401", "403", "408", "429", "431", "500", "503"];
        expect(Object.keys(responses).toSorted()).toEqual(statuses);
        for (const response of Object.values(responses).map(asJson)) {
          const common = ["X-Request-Id", "Cache-Control", "X-Content-Type-Options"];
          expect(Object.keys(asJson(response.headers))).toEqual(expect.arrayContaining(common));
        }
      }
    }
  });

  it("has schemas that JSON Schema accepts and that refuse other properties", () => {
    for (const [name, schema] of Object.entries(asJson(components.schemas))) {
      expect(() => compileSchema(schema), name).not.toThrow();
      if (asJson(schema).type === "object") {
        const { additionalProperties, required, properties } = asJson(schema);
        expect(additionalProperties, name).toBe(false);
        expect(required, name).toEqual(Object.keys(asJson(properties)));
      }
    }
  });

  it("gives generated clients 64-bit integers, and no pattern that Go's RE2 refuses", () => {
    JSON.stringify([openapi, webhooks], (name, value) => {
      if (value?.maximum > 2 ** 31 - 1) expect(value.format, name).toBe("int64");
      if (name === "pattern") expect(value).not.toContain("(?");
      return value;
    });
  });

  it("has examples of every body, header and parameter that keep their own rules", () => {
    for (const [name, response] of Object.entries(asJson(components.responses))) {
      const { content, "x-codes": codes = [] } = asJson(response);
      if (content === undefined) continue;
      const media = asJson(asJson(content)["application/json"]);
      expectExamples(media.schema, asJson(media.examples), name);
      const shown = Object.values(asJson(media.examples)).map((one) => asJson(asJson(one).value));
      expect(shown.flatMap(({ error }) => (error ? asJson(error).code : []))).toEqual(codes);
    }
    for (const [name, parameter] of Object.entries(asJson(components.parameters))) {
      const { schema, examples } = asJson(parameter);
      if (examples !== undefined) expectExamples(schema, asJson(examples), name);
    }
    for (const [name, header] of Object.entries(asJson(components.headers))) {
      const { schema, example } = asJson(header);
      if (example !== undefined) expectExamples(schema, { only: { value: example } }, name);
    }
  });

  it.each([
    ["RequestTimeout", "late", "ERR_HTTP_REQUEST_TIMEOUT"],
    ["HeadTooLarge", "large", "HPE_HEADER_OVERFLOW"],
  ])("has the body that is sent as its example of %s", (response, name, code) => {
    const { content } = asJson(asJson(components.responses)[response]);
    const { examples } = asJson(asJson(content)["application/json"]);
    const { body } = refusalOf({ code }, EXAMPLE_ID, new Set());
    expect(JSON.parse(String(body))).toEqual(asJson(asJson(examples)[name]).value);
  });
});

it.each(["/activity", "/me"])(
  "the gateway accepts the parameters of %s that are described, and no others",
  async (path) => {
    const { apiKey } = await createReader(stack);
    const { text } = await stack.http(`/api/v1${path}?x=1`, { apiKey });
    const [, names] = /unknown parameter: ([a-z_, ]+) (?:is|are) accepted/.exec(text) ?? [];
    const described = parametersOf(path).map(({ name }) => name);
    const expected = described.length > 0 ? described.toSorted() : ["none"];
    expect(names?.split(", ").toSorted()).toEqual(expected);
  },
);

function expectExamples(
  schema: unknown,
  examples: { readonly [name: string]: unknown },
  what: string,
): void {
  expect(Object.keys(examples).length, `${what} has examples`).toBeGreaterThan(0);
  for (const example of Object.values(examples)) {
    expect(faultsOf(schema, asJson(example).value), what).toEqual([]);
  }
}
