import { expect, it, vi } from "vitest";
import { callBack } from "./call-back.ts";

it("logs the stacks of a callback's error and its cause, but no property that can hold a supporter's data", async () => {
  const logged = vi.spyOn(console, "error").mockReturnValue();
  const cause = Object.assign(new Error("the row exists"), { detail: "confidential" });
  const error = Object.assign(new Error("insert", { cause }), { sql: "confidential" });
  await callBack("onWait", () => Promise.reject(error));
  const text = expect.stringMatching(
    /: Error: insert\n +at .*\n {2}cause: Error: the row exists\n +at /s,
  );
  expect(logged.mock.lastCall).toEqual([text]);
  expect(logged.mock.lastCall?.[0]).not.toContain("confidential");
  logged.mockRestore();
});

it.each([
  ["a text", "stop", "stop"],
  ["an object with a message", { message: "no row", details: "confidential" }, "no row"],
  ["nothing", undefined, "undefined"],
])("logs %s that a callback throws", async (_, thrown, known) => {
  const logged = vi.spyOn(console, "error").mockReturnValue();
  await callBack("onWait", () => Promise.reject(thrown));
  expect(logged.mock.lastCall).toEqual([`@activity/feed: onWait failed: ${known}`]);
  logged.mockRestore();
});
