import { expect, it } from "vitest";
import { readSettings, UsageError, usageOf } from "./settings.ts";

const FULL = { rounds: 3, only: ["one", "two"], profile: false };
const spec = {
  ...{ name: "bench:it", full: FULL, short: { ...FULL, rounds: 1 } },
  options: { rounds: 1, only: ["one", "two", "three"], profile: "flag" },
} as const;

it("reads numbers, names in their order, and flags, over those of a whole or a short run", () => {
  expect(readSettings([], spec)).toEqual(FULL);
  expect(readSettings(["--short", "--only", "three,one"], spec)).toEqual({
    ...{ rounds: 1, only: ["one", "three"], profile: false },
  });
  const args = ["--rounds", "7", "--profile"];
  expect(readSettings(args, spec)).toEqual({ ...FULL, rounds: 7, profile: true });
});

it.each(["--rounds 0", "--rounds x", "--only four", "--other"])("refuses %s", (args) => {
  expect(() => readSettings(args.split(" "), spec)).toThrow(UsageError);
});

it("says how it is called", () => {
  expect(usageOf(spec)).toBe(
    "npm run bench:it -- [--short] [--rounds number] [--only one,two,three] [--profile]\n",
  );
});
