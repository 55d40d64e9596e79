import { expect, it } from "vitest";
import { sessionTextIn } from "./session-cookie.ts";

it("takes no cookie whose name only looks like the protected one, ADR 0038", () => {
  const planted = "\u00a0__Host-session=planted; __Host-session=own ; other=1";
  expect(sessionTextIn(planted, false)).toBe("own");
  expect(sessionTextIn("\u00a0__Host-session=planted", false)).toBeUndefined();
});

it("reads a cookie with many inner spaces in linear time", () => {
  // With quadratic time, this takes over a minute.
  const header = `a${" ".repeat(400_000)}b; __Host-session=own`;
  expect(sessionTextIn(header, false)).toBe("own");
});
