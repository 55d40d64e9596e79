import { Code, ConnectError } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { untilAnswered } from "./until-answered.ts";

/** A call that fails so often before it is answered. */
function failing(times: number, code: Code) {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls <= times) throw new ConnectError("no", code);
    return calls;
  };
}

it.each([
  ["is out of reach", Code.Unavailable],
  ["dies in the middle of the call", Code.Canceled],
  ["resets the call", Code.Aborted],
])("asks again while the core %s", async (_when, code) => {
  expect(await untilAnswered(failing(2, code))).toBe(3);
});

it("does not ask again what the core refused", async () => {
  await expect(untilAnswered(failing(1, Code.InvalidArgument))).rejects.toThrow("no");
});
