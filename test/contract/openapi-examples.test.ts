import { expect, it } from "vitest";
import { refusalOf } from "../../gateway/src/unreadable-request.ts";
import { asJson, openapi } from "./openapi-document.ts";

/** The request id of every example in openapi.yaml. */
const REQUEST_ID = "req_3f9Qm1sXK0aZ7yB-uLwT2e";
const NO_METHODS: ReadonlySet<string> = new Set();

it.each([
  ["RequestTimeout", "late", "ERR_HTTP_REQUEST_TIMEOUT"],
  ["HeadTooLarge", "large", "HPE_HEADER_OVERFLOW"],
])("openapi.yaml's example of %s is the body that is sent", (response, example, code) => {
  const path = ["components", "responses", response, "content", "application/json", "examples"];
  const examples = path.reduce((at, name) => asJson(at[name]), openapi);
  const { body } = refusalOf({ code }, REQUEST_ID, NO_METHODS);
  expect(JSON.parse(String(body))).toEqual(asJson(examples[example]).value);
});
