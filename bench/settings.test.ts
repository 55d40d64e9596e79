import { expect, it } from "vitest";
import { isWhole, readSettings } from "./settings.ts";

it("keeps the results of a run with all default settings", () => {
  expect(isWhole(readSettings([]))).toBe(true);
});

it.each([
  "--short",
  "--profile",
  "--rounds 3",
  "--seconds 4",
  "--concurrency 8",
  "--only fastify",
  "--workloads polls",
])("keeps no results of a run with %s", (args) => {
  expect(isWhole(readSettings(args.split(" ")))).toBe(false);
});

it("measures what metrics cost only where it is asked to", () => {
  expect(readSettings([]).sides).not.toContain("one-process-metrics");
  expect(readSettings(["--only", "one-process,one-process-metrics"]).sides).toEqual([
    "one-process",
    "one-process-metrics",
  ]);
});
