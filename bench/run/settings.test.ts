import { expect, it } from "vitest";
import { readSettings, UsageError } from "./settings.ts";

const full = { rounds: 3, only: ["one", "two"], profile: false };
const options = { rounds: 1, only: ["one", "two", "three"], profile: "flag" } as const;
const read = (args: string) =>
  readSettings(args ? args.split(" ") : [], {
    ...{ name: "bench:it", full, short: { ...full, rounds: 1 }, options },
  });

it("replaces settings of a full or a short run by numbers, names and flags", () => {
  expect(read("")).toEqual(full);
  const [only, profile] = [["one", "three"], false];
  expect(read("--short --only three,one")).toEqual({ rounds: 1, only, profile });
  expect(read("--rounds 7 --profile")).toEqual({ ...full, rounds: 7, profile: true });
});

it.each(["--rounds 0", "--rounds x", "--only four", "--other"])("refuses %s", (args) => {
  expect(() => read(args)).toThrow(UsageError);
});
