import { expect, it } from "vitest";
import { MAX_ATTEMPTS } from "../../workflows/src/attempt/retry-schedule.ts";
import { readText } from "./import-rule.ts";

const WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
/** The places that state the number of attempts. */
const TOLD: readonly (readonly [string, RegExp])[] = [
  ["README.md", /sent up to (\w+) times/g],
  ["ARCHITECTURE.md", /record; up to (\w+) in all/g],
  ["docs/source-contract.md", /\((\d+) attempts, /g],
  ["docs/source-contract.md", /\| (\d+) \(the first/g],
  ["docs/api.md", /up to (\w+) attempts/g],
  ["openapi-webhooks.yaml", /number, 1 to (\d+)\./g],
  ["openapi-webhooks.yaml", /"\^\[1-(\d)\]\$"/g],
  ["docs/glossary.md", /up to (\w+) attempts/g],
  ["server/src/session/limits.ts", /attempts: (\d+),/g],
  ["receiver-kit/docs/why.md", /12 hours\) and (\w+) attempts/g],
  ["proto/activity/dashboard/v1/delivery_service.proto", /number in the run, 1 to (\d+)\./g],
  ["proto/activity/dashboard/v1/delivery_service.proto", /up to (\w+) attempts/g],
  ["proto/activity/dispatch/v1/dispatch_service.proto", /number in it, 1 to (\d+)\./g],
  ["proto/activity/dispatch/v1/dispatch_service.proto", /number in it[^}]*lte: (\d+)/g],
  ["workflows/src/common/run.ts", /1 to (\d+)\. \*\//g],
];
/**
 * The places that state the number of retries, which is one less than the number of attempts. No attempt has more
 * attempts before it, so the core refuses to record one that has.
 */
const RETRIES_TOLD: typeof TOLD = [
  ["ARCHITECTURE.md", /attempts 1 to (\d+) failed/g],
  ["docs/source-contract.md", /plus up to (\d+) retries/g],
  ["docs/source-contract.md", /before retries 1 to (\d+)/g],
  [
    "proto/activity/dispatch/v1/dispatch_service.proto",
    /PastAttempt before[^;]*max_items = (\d+)/g,
  ],
];

const numberOf = (told: string) => (WORDS.includes(told) ? WORDS.indexOf(told) : Number(told));

it.each([
  { what: "attempts", told: TOLD, number: MAX_ATTEMPTS },
  { what: "retries", told: RETRIES_TOLD, number: MAX_ATTEMPTS - 1 },
])(
  "§6.4: every text states the number of $what of workflows/src/attempt/retry-schedule.ts",
  ({ told, number }) => {
    const wrong = told.flatMap(([file, pattern]) => {
      const found = [...readText(file).matchAll(pattern)];
      if (found.length === 0) return [`${file} no longer says ${pattern}: correct this list`];
      return found
        .filter(([, stated = ""]) => numberOf(stated) !== number)
        .map(([text]) => `${file} says “${text}”, the schedule has ${number}: correct it too`);
    });
    expect(wrong).toEqual([]);
  },
);
