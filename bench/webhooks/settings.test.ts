import { expect, it } from "vitest";
import { UsageError } from "../command-line.ts";
import { isWhole, readSettings } from "./settings.ts";

it("keeps the results of a run with all default settings", () => {
  expect(isWhole(readSettings([]))).toBe(true);
});

it.each(["--short", "--rounds 2", "--only steady"])("keeps no results of a run with %s", (args) => {
  expect(isWhole(readSettings(args.split(" ")))).toBe(false);
});

it("measures all cases of a layout that is named, and all layouts when only cases are", () => {
  const { layouts, cases } = readSettings(["--only", "own-process"]);
  expect([layouts, cases.length]).toEqual([["own-process"], 7]);
  const others = readSettings(["--only", "64-one,steady"]);
  expect([others.layouts.length, others.cases]).toEqual([2, ["64-one", "steady"]]);
});

it("refuses a name that it does not know", () => {
  expect(() => readSettings(["--only", "65-one"])).toThrow(UsageError);
});
