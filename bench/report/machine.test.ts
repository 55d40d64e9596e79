import { expect, it } from "vitest";
import { describeMachine } from "./machine.ts";

it("tells of the kernel its version, not the name that somebody gave it", () => {
  expect(describeMachine("a database").system).toMatch(/^\w+ \d+(\.\d+)?$/);
});
