import { ErrorInfoSchema } from "@activity/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { explainCallError } from "./core-client.ts";

it("says why each address of the core's name cannot be reached", () => {
  const refused = ["::1", "127.0.0.1"].map((host) => new Error(`connect ECONNREFUSED ${host}:1`));
  const failure = ConnectError.from(new AggregateError(refused), Code.Unavailable);
  expect(explainCallError(failure, "http://localhost:1")).toMatchObject({
    message: expect.stringContaining(
      "(connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1)",
    ),
  });
});

it("does not advise to start a core that answers", () => {
  const details = [{ desc: ErrorInfoSchema, value: { code: "temporarily_unavailable" } }];
  const failure = new ConnectError("Try later.", Code.Unavailable, undefined, details);
  expect(explainCallError(failure, "http://localhost:1")).toMatchObject({
    message:
      "The core at http://localhost:1 cannot import now: Try later. Stored rows are not stored twice.",
  });
});

it("says that a core whose answer was cut cannot be reached, and not that it refused the import", () => {
  const failure = new ConnectError("protocol error: incomplete envelope", Code.InvalidArgument);
  expect(explainCallError(failure, "http://localhost:1")).toMatchObject({
    message: expect.stringContaining("cannot be reached or does not answer"),
  });
});
