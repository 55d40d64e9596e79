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
