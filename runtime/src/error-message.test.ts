import { expect, it } from "vitest";
import { messageOf } from "./error-message.ts";

it("says of a name with several addresses why each of them failed", () => {
  const refused = ["::1", "127.0.0.1"].map((host) => new Error(`connect ECONNREFUSED ${host}:1`));
  expect(messageOf(new AggregateError(refused))).toBe(
    "connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1",
  );
});

it("says something of every other failure", () => {
  const failures = [new Error("one"), new TypeError(), new AggregateError([], "all"), "text"];
  expect(failures.map(messageOf)).toEqual(["one", "TypeError", "all", "text"]);
});
