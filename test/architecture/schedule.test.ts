import { expect, it } from "vitest";
import { MAX_ATTEMPTS } from "../../workflows/src/attempt/retry-schedule.ts";
import { readText } from "./import-rule.ts";

const WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
/** The places that state the number of attempts. */
const TOLD: readonly (readonly [string, RegExp])[] = [
  ["README.md", /sent up to (\w+) times/g],
  ["ARCHITECTURE.md", /record; up to (\w+) in all/g],
  ["docs/source-contract.md", /\((\d+) attempts, /g],
  ["docs/glossary.md", /up to (\w+) attempts/g],
  ["server/src/session/limits.ts", /attempts: (\d+),/g],
  ["receiver-kit/docs/why.md", /12 hours\) and (\w+) attempts/g],
  ["proto/activity/dashboard/v1/delivery_service.proto", /number in the run, 1 to (\d+)\./g],
  ["proto/activity/dispatch/v1/dispatch_service.proto", /number in it, 1 to (\d+)\./g],
  ["proto/activity/dispatch/v1/dispatch_service.proto", /number in it[^}]*lte: (\d+)/g],
  ["workflows/src/common/run.ts", /1 to (\d+)\. \*\//g],
];

const numberOf = (told: string) => (WORDS.includes(told) ? WORDS.indexOf(told) : Number(told));

it("§6.4: every text states the number of attempts of workflows/src/attempt/retry-schedule.ts", () => {
  const wrong = TOLD.flatMap(([file, pattern]) => {
    const found = [...readText(file).matchAll(pattern)];
    if (found.length === 0) return [`${file} no longer says ${pattern}: correct this list`];
    return found
      .filter(([, told = ""]) => numberOf(told) !== MAX_ATTEMPTS)
      .map(([text]) => `${file} says “${text}”, the schedule has ${MAX_ATTEMPTS}: correct it too`);
  });
  expect(wrong).toEqual([]);
});
