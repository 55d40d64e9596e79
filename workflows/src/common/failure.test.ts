import { Code, ConnectError } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { fieldsOfFailure, WorkflowBundleError } from "./failure.ts";

/** Creates the error of a call to Temporal or of another process. `code` is a gRPC code or an exit status. */
const failure = (fields: object) =>
  Object.assign(new Error("Command failed"), { code: Code.NotFound, ...fields });

it("advises on a failure of Temporal by its gRPC code", () => {
  expect(fieldsOfFailure(failure({}))).toMatchObject({
    code: "NotFound",
    advice: expect.stringContaining("TEMPORAL_NAMESPACE"),
  });
});

it.each([Code.Unauthenticated, Code.PermissionDenied])(
  "names CORE_CREDENTIAL, not Temporal, when the core refuses with code %i",
  (code) => {
    const cause = new ConnectError("no", code);
    const advice = expect.stringMatching(/^the core refuses CORE_CREDENTIAL: /);
    expect(fieldsOfFailure(cause)).toEqual({ cause, code: Code[code], advice });
  },
);

it("gives a failure of the core no advice about Temporal", () => {
  const cause = new ConnectError("gone", Code.NotFound);
  expect(fieldsOfFailure(cause)).toEqual({ cause, code: "NotFound" });
});

it.each([
  [
    { stderr: "file:///build.ts:3\n  ^\n\nTypeError: no\n    at x\n\nNode.js v24\n" },
    "TypeError: no",
  ],
  [{ code: null, signal: "SIGKILL", stderr: "" }, "The compiler was ended by SIGKILL."],
  [{ code: "ENOENT" }, "Command failed"],
])(
  "says why the workflows cannot be bundled, and takes no exit status for a gRPC code: %j",
  (fields, reason) => {
    const cause = new WorkflowBundleError(failure(fields));
    expect(fieldsOfFailure(cause)).toEqual({ cause, reason });
  },
);
