import { Code, ConnectError } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { throwIfGone } from "./caller-gone.ts";

it.each([
  ["whose deadline passed", Code.DeadlineExceeded, Code.DeadlineExceeded],
  ["who reset the call, with any code", Code.Internal, Code.Canceled],
])("a change for a caller %s fails with its own code", (_, reason, code) => {
  const signal = AbortSignal.abort(new ConnectError("", reason));
  expect(() => throwIfGone(signal)).toThrow(expect.objectContaining({ code }));
});
