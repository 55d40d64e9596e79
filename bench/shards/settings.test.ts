import { expect, it } from "vitest";
import { isWhole, readSettings } from "./settings.ts";

it("keeps the results of a run with all default settings", () => {
  expect(isWhole(readSettings([]))).toBe(true);
});

it.each(["--short", "--rounds 2"])("keeps no results of a run with %s", (args) => {
  expect(isWhole(readSettings(args.split(" ")))).toBe(false);
});
