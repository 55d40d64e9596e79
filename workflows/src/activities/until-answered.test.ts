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

it("asks again while the core is out of reach", async () => {
  expect(await untilAnswered(failing(2, Code.Unavailable))).toBe(3);
});

it("does not ask again what the core refused", async () => {
  await expect(untilAnswered(failing(1, Code.InvalidArgument))).rejects.toThrow("no");
});
